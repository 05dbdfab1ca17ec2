import type { LinkReply, NextStep } from '@parley/contract/console/session'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ApiError } from '../../lib/api.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { FramedPage } from '../../ui/framed-page.tsx'
import { FailedState, LoadingLines } from '../../ui/states.tsx'
import { Moment } from '../../ui/time.tsx'
import { AcceptInvite } from './accept-invite.tsx'
import { linkKey, useLinkDetails, useLinkToken } from './link.queries.ts'
import { LinkForm } from './link-form.tsx'

/** The page of a one-time link: the first account, an invitation or a password reset. */
export function LinkPage() {
  const token = useLinkToken()
  const { data: link, error, refetch } = useLinkDetails(token)
  const client = useQueryClient()
  const navigate = useNavigate()
  if (token === '') return <ExpiredLink />
  if (error instanceof ApiError && (error.status === 410 || error.status === 404)) return <ExpiredLink />
  if (error) {
    return (
      <FramedPage title="Opening link">
        <FailedState what="The link could not be opened" error={error} onRetry={() => void refetch()} />
      </FramedPage>
    )
  }
  if (!link) {
    return (
      <FramedPage title="Opening link">
        <LoadingLines />
      </FramedPage>
    )
  }
  const { title, detail } = textFor(link)
  const onStep = (next: NextStep['next']) => {
    // All data of an earlier session. This page still shows the link, which would be read again.
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== linkKey })
    const to = link.workspace_id ? `/w/${link.workspace_id}` : '/'
    const href = next === 'second_factor' ? `/sign-in?step=code&next=${encodeURIComponent(to)}` : to
    void navigate({ href, replace: true })
  }
  const isSignedIn = link.kind === 'invite' && link.signed_in_as !== null
  return (
    <FramedPage title={title} detail={detail} foot={<LinkExpiry at={link.expires_at} />}>
      {isSignedIn ? (
        <div style={{ marginTop: 20 }}>
          <AcceptInvite token={token} link={link} onDone={() => onStep('done')} />
        </div>
      ) : (
        <LinkForm token={token} link={link} onStep={onStep} />
      )}
    </FramedPage>
  )
}

function LinkExpiry({ at }: { at: string }) {
  return (
    <>
      This link works once and expires on <Moment at={at} />.
    </>
  )
}

function ExpiredLink() {
  return (
    <FramedPage
      title="This link has expired or was already used"
      detail="Ask the person who sent it for a new one."
    >
      <div style={{ marginTop: 24 }}>
        <ButtonLink to="/sign-in" size="l" fullWidth>
          Sign in
        </ButtonLink>
      </div>
    </FramedPage>
  )
}

function textFor({ kind, workspace_name, role, email }: LinkReply): { title: string; detail: string } {
  if (kind === 'reset')
    return {
      title: 'Choose a new password',
      detail: email ? `For ${email}. This signs out all your devices and removes your passkeys.` : '',
    }
  if (kind === 'setup') {
    return {
      title: 'Set up Parley',
      detail: 'Create the first account. It operates this installation and can invite others.',
    }
  }
  return {
    title: workspace_name ? `Join ${workspace_name}` : 'Join your team',
    detail: `You were invited${role ? ` as ${role}` : ''}. ${email ? `The invitation is for ${email}.` : ''}`,
  }
}
