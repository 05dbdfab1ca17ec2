import { useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { ApiError } from '../lib/api.ts'
import { whenReachable } from '../lib/reachable.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { PageLink } from '../ui/link.tsx'
import { EmptyState, FailedState } from '../ui/states.tsx'
import styles from './fallbacks.module.css'

/** A page crashed or its data could not be loaded. The rest of the console keeps working. */
export function ErrorPage({ error, reset }: { error: unknown; reset?: () => void }) {
  const router = useRouter()
  const isKnown = error instanceof ApiError
  const isUnreachable = isKnown && error.status === 0
  useEffect(() => {
    document.title = 'Something went wrong · Parley'
    if (!isKnown) console.error(error)
  }, [error, isKnown])
  const retry = () => {
    reset?.()
    void router.invalidate()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: `retry` of the first render does the same
  useEffect(() => (isUnreachable ? whenReachable(retry) : undefined), [isUnreachable])
  return (
    <div className={styles.page}>
      <FailedState
        what={isKnown ? 'This page could not be loaded' : 'This page crashed'}
        error={
          isKnown
            ? error
            : new Error('This is a bug in the console. Try again, and if that does not help, reload the page.')
        }
        onRetry={retry}
      />
    </div>
  )
}

export function NotFoundPage() {
  useEffect(() => {
    document.title = 'Page not found · Parley'
  }, [])
  return (
    <div className={styles.page}>
      <EmptyState isPage icon="search" title="Page not found" action={<ButtonLink to="/">Go to overview</ButtonLink>}>
        Check the address for typos. The page may also have been removed.
      </EmptyState>
    </div>
  )
}

/** The page exists, but this person may not open it. */
export function NotPermittedPage({ title, role }: { title: string; role: string | null }) {
  useEffect(() => {
    document.title = 'No access · Parley'
  }, [])
  return (
    <div className={styles.page}>
      <EmptyState
        isPage
        icon="lock"
        title={`You don’t have access to “${title}”`}
        action={<ButtonLink to="/">Go to overview</ButtonLink>}
      >
        {role
          ? `Your role in this workspace is ${role}. Ask an admin to change it under Workspace → Team.`
          : 'Only operators of this installation can open this page.'}
      </EmptyState>
    </div>
  )
}

/** The workspace requires two-factor authentication, and this account has none. */
export function SecondFactorPage({ workspace }: { workspace: string }) {
  return (
    <SetUpSecondFactor title={`${workspace} requires two-factor authentication`}>
      Set up an authenticator app to open this workspace. It takes about a minute, and then you return here.
    </SetUpSecondFactor>
  )
}

/** This installation requires two-factor authentication of its operators, and this one has none. */
export function OperatorSecondFactorPage() {
  return (
    <SetUpSecondFactor title="Operators need two-factor authentication">
      You operate this installation, so a password alone is not enough. Set up an authenticator app, or add a passkey
      under <PageLink to="/account">Your account</PageLink>. Everything else opens then.
    </SetUpSecondFactor>
  )
}

function SetUpSecondFactor({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = 'Two-factor authentication required · Parley'
  }, [])
  return (
    <div className={styles.page}>
      <EmptyState
        isPage
        icon="lock"
        title={title}
        action={
          <ButtonLink to="/account?set_up=app" kind="primary">
            Set up an authenticator app
          </ButtonLink>
        }
      >
        {children}
      </EmptyState>
    </div>
  )
}

/** The workspace does not exist, or this person is not a member: the page does not reveal which. */
export function UnknownWorkspacePage() {
  return (
    <div className={styles.page}>
      <EmptyState
        isPage
        icon="building"
        title="Workspace not found"
        action={<ButtonLink to="/">Go to your workspace</ButtonLink>}
      >
        It does not exist, or you are not a member. Ask one of its admins for an invitation.
      </EmptyState>
    </div>
  )
}

export function NoWorkspacePage() {
  return (
    <div className={styles.page}>
      <EmptyState
        isPage
        icon="building"
        title="You are not in a workspace yet"
        action={<Button onClick={() => location.reload()}>Reload</Button>}
      >
        Ask an admin for an invitation, or ask the operator of this installation to create a workspace for you.
      </EmptyState>
    </div>
  )
}
