import { useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { ApiError } from '../lib/api.ts'
import { Button, ButtonLink } from '../ui/button.tsx'
import { EmptyState, FailedState } from '../ui/states.tsx'
import styles from './fallbacks.module.css'

/** A page broke, or what it needs could not be loaded. The rest of the console goes on. */
export function ErrorPage({ error, reset }: { error: unknown; reset?: () => void }) {
  const router = useRouter()
  const isKnown = error instanceof ApiError
  useEffect(() => {
    document.title = 'Something went wrong · Parley'
    if (!isKnown) console.error(error)
  }, [error, isKnown])
  return (
    <div className={styles.page}>
      <FailedState
        what={isKnown ? 'This page could not be loaded' : 'This page broke'}
        error={
          isKnown ? error : new Error('A fault in the console itself. Trying again may help; if not, reload the page.')
        }
        onRetry={() => {
          reset?.()
          void router.invalidate()
        }}
      />
    </div>
  )
}

export function NotFoundPage() {
  useEffect(() => {
    document.title = 'Not found · Parley'
  }, [])
  return (
    <div className={styles.page}>
      <EmptyState
        isPage
        icon="search"
        title="There is no such page"
        action={<ButtonLink to="/">Go to the overview</ButtonLink>}
      >
        The address may be mistyped, or what was here is gone.
      </EmptyState>
    </div>
  )
}

/** The page exists, but is not for this person. */
export function NotPermittedPage({ title, role }: { title: string; role: string | null }) {
  useEffect(() => {
    document.title = 'Not permitted · Parley'
  }, [])
  return (
    <div className={styles.page}>
      <EmptyState
        isPage
        icon="lock"
        title={`You cannot open “${title}”`}
        action={<ButtonLink to="/">Go to the overview</ButtonLink>}
      >
        {role
          ? `Your role in this workspace is ${role}. An admin of the workspace can change it, under Team.`
          : 'Only those who operate this installation see this page.'}
      </EmptyState>
    </div>
  )
}

/** The workspace lets nobody in who has no second factor: say so, and where to set one up. */
export function SecondFactorPage({ workspace }: { workspace: string }) {
  useEffect(() => {
    document.title = 'Second factor needed · Parley'
  }, [])
  return (
    <div className={styles.page}>
      <EmptyState
        isPage
        icon="lock"
        title={`${workspace} asks for a second factor`}
        action={
          <ButtonLink to="/account?set_up=app" kind="primary">
            Set up an authenticator app
          </ButtonLink>
        }
      >
        Its admins let in only people whose account has one. It takes a minute, and you come straight back.
      </EmptyState>
    </div>
  )
}

/** The address names a workspace that does not exist or that this person is not in: both look the same. */
export function UnknownWorkspacePage() {
  return (
    <div className={styles.page}>
      <EmptyState
        isPage
        icon="building"
        title="No such workspace"
        action={<ButtonLink to="/">Go to your workspace</ButtonLink>}
      >
        It does not exist, or you are not in its team. Ask one of its admins for an invitation.
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
        title="You are in no workspace yet"
        action={<Button onClick={() => location.reload()}>Look again</Button>}
      >
        Ask an admin to invite you, or the operator of this installation to create a workspace for you.
      </EmptyState>
    </div>
  )
}
