import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { formatNumber, formatTimesIn } from '../../lib/format.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { Countdown, Moment } from '../../ui/time.tsx'
import { useEnableWebhook } from './webhooks.queries.ts'

const workTitles = {
  release: 'Making the events due that were held',
  retry: 'Queuing retries of failed deliveries',
  rotate: 'Queuing retries of what failed before the rotation',
} as const

/** A notice for each work on all deliveries of a webhook that continues in the background. */
export function WorkInProgress({ webhook }: { webhook: ConsoleWebhook }) {
  return webhook.in_progress.map(({ work, done }) => (
    <Notice key={work} title={`${workTitles[work]}: ${formatNumber(done)} so far.`}>
      This continues in the background. You can leave this page.
    </Notice>
  ))
}

/** A webhook that failed too often to stay enabled is a problem; a manually disabled webhook is not. */
export function WebhookBadge({ webhook: { state, disabled_by_failures } }: { webhook: ConsoleWebhook }) {
  return state === 'disabled' && disabled_by_failures ? (
    <StatusBadge status={state} tone="bad" icon="pause" />
  ) : (
    <StatusBadge status={state} />
  )
}

/** Why the last attempt failed and how to fix it, with a link to its delivery. */
function LastFailure({ webhook: { id, last_failure } }: { webhook: ConsoleWebhook }) {
  const here = useHere()
  if (!last_failure) return null
  return (
    <>
      <strong>{last_failure.title}</strong> {last_failure.remedy}{' '}
      <PageLink to={here.path(`webhooks/${id}?open=${last_failure.event_id}.${id}`)} className="link">
        Open the last failed delivery
      </PageLink>
      .{' '}
    </>
  )
}

/** A notice if a webhook is failing or disabled, with the cause and the fix. */
export function WebhookState({ webhook }: { webhook: ConsoleWebhook }) {
  if (webhook.state === 'disabled') return <Disabled webhook={webhook} />
  if (webhook.state !== 'failing') return null
  const { failures, failures_max, failing_since, next_attempt_at } = webhook
  return (
    <Notice tone="warn" title={`Failing ${failures} of ${failures_max}.`}>
      <LastFailure webhook={webhook} />
      It has been failing since <Moment at={failing_since} />. After {failures_max} failures in a row, this webhook is
      disabled and its events are held.
      {/* At the end, because it changes every second: words after it would move. */}
      {next_attempt_at && (
        <>
          {' '}
          Next attempt <Countdown at={next_attempt_at} />.
        </>
      )}
    </Notice>
  )
}

function Disabled({ webhook }: { webhook: ConsoleWebhook }) {
  const mayEnable = useCan('webhooks:enable')
  const { count, more } = webhook.held
  const enable = useEnableWebhook(
    webhook.id,
    count > 0 ? 'Webhook enabled. Held events are being sent.' : 'Webhook enabled',
  )
  return (
    <Notice
      tone={webhook.disabled_by_failures ? 'bad' : 'warn'}
      title={
        <>
          Disabled <Moment at={webhook.disabled_at} />
          {webhook.disabled_by_failures ? ' because it failed too often.' : '.'}
        </>
      }
      action={
        mayEnable && (
          <Button kind="primary" icon="play" busy={enable.isPending} onClick={() => enable.run()}>
            Enable
          </Button>
        )
      }
    >
      {webhook.disabled_by_failures && webhook.last_failure ? (
        <LastFailure webhook={webhook} />
      ) : (
        <SafeText>{`${formatTimesIn(webhook.disabled_reason ?? '')} `}</SafeText>
      )}
      {count === 0
        ? 'New events are held until you enable it.'
        : `${formatNumber(count)}${more ? '+' : ''} ${count === 1 ? 'event is' : 'events are'} held and will be sent when you enable it.`}
    </Notice>
  )
}
