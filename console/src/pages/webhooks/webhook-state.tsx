import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { formatNumber, formatTimesIn } from '../../lib/format.ts'
import { useCan } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { SafeText } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
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

/** A notice if a webhook is failing or disabled, with the fix. */
export function WebhookState({ webhook }: { webhook: ConsoleWebhook }) {
  if (webhook.state === 'disabled') return <Disabled webhook={webhook} />
  if (webhook.state !== 'failing') return null
  const { failures, failures_max, failing_since, next_attempt_at } = webhook
  return (
    <Notice
      tone="warn"
      title={
        <>
          Failing {failures} of {failures_max}
          {next_attempt_at && (
            <>
              , next attempt <Countdown at={next_attempt_at} />
            </>
          )}
          .
        </>
      }
    >
      It has been failing since <Moment at={failing_since} />. After {failures_max} failures in a row, this webhook is
      disabled and its events are held. Open a delivery to see the response.
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
      tone="bad"
      title="This webhook is disabled."
      action={
        mayEnable && (
          <Button kind="primary" icon="play" busy={enable.isPending} onClick={() => enable.run()}>
            Enable
          </Button>
        )
      }
    >
      <SafeText>{formatTimesIn(webhook.disabled_reason ?? '')}</SafeText>{' '}
      {count === 0
        ? 'New events are held until you enable it.'
        : `${formatNumber(count)}${more ? '+' : ''} ${count === 1 ? 'event is' : 'events are'} held and will be sent when you enable it.`}
    </Notice>
  )
}
