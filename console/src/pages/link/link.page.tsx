import type { LinkReply } from '@parley/contract/console/session'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { ApiError } from '../../lib/api.ts'
import { formatTime } from '../../lib/format.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { FramedPage } from '../../ui/framed-page.tsx'
import { FailedState, LoadingLines } from '../../ui/states.tsx'
import { useLinkDetails } from './link.queries.ts'
import { LinkForm } from './link-form.tsx'

/** Behind a one-time link: the first account, an invitation, or a new password. */
export function LinkPage() {
  const { token = '' } = useParams({ strict: false })
  const { data: link, error, refetch } = useLinkDetails(token)
  const client = useQueryClient()
  const navigate = useNavigate()
  if (error instanceof ApiError && (error.status === 410 || error.status === 404)) return <SpentLink />
  if (error) {
    return (
      <FramedPage title="Your link">
        <FailedState what="The link could not be read" error={error} onRetry={() => void refetch()} />
      </FramedPage>
    )
  }
  if (!link) {
    return (
      <FramedPage title="Your link">
        <LoadingLines />
      </FramedPage>
    )
  }
  const { title, detail } = wordsFor(link)
  return (
    <FramedPage title={title} detail={detail} foot={`This link works once, until ${formatTime(link.expires_at)}.`}>
      <LinkForm
        token={token}
        link={link}
        onStep={(next) => {
          client.clear()
          void navigate({ href: next === 'second_factor' ? '/sign-in?step=code' : '/', replace: true })
        }}
      />
    </FramedPage>
  )
}

function SpentLink() {
  return (
    <FramedPage
      title="This link no longer works"
      detail="It was used already, or its time has passed. Ask whoever sent it to you for a new one."
    >
      <div style={{ marginTop: 24 }}>
        <ButtonLink to="/sign-in" size="l" fullWidth>
          Go to sign in
        </ButtonLink>
      </div>
    </FramedPage>
  )
}

function wordsFor({ kind, workspace_name, role, email }: LinkReply): { title: string; detail: string } {
  if (kind === 'reset')
    return {
      title: 'Choose a new password',
      detail: email ? `For ${email}. All your devices are signed out and your passkeys are removed.` : '',
    }
  if (kind === 'setup') {
    return {
      title: 'Set up Parley',
      detail: 'Create the first account. It runs this installation and can invite everybody else.',
    }
  }
  return {
    title: workspace_name ? `Join ${workspace_name}` : 'Join your team',
    detail: `You were invited${role ? ` as ${role}` : ''}. ${email ? `The account is for ${email}.` : ''}`,
  }
}
