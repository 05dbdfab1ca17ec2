import type { DeliveryDetail } from '@parley/contract/console/deliveries'
import type { ConsoleWebhook, TestEventInput } from '@parley/contract/console/webhooks'
import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { Outcome, ResponseBody } from '../../parts/deliveries/attempts.tsx'
import { useDelivery } from '../../parts/deliveries/deliveries.queries.ts'
import { eventChoices } from '../../parts/deliveries/events.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select } from '../../ui/fields.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { Stack } from '../../ui/layout.tsx'
import { LoadingLines, Notice } from '../../ui/states.tsx'
import { Duration } from '../../ui/time.tsx'
import styles from './webhooks.module.css'
import { useTestWebhook } from './webhooks.queries.ts'

type EventType = TestEventInput['type']

/** Sends an example event to this webhook once, without retries, and shows the response. */
export function TestEventDialog({ webhook, onClose }: { webhook: ConsoleWebhook; onClose: () => void }) {
  const [eventId, setEventId] = useState<string | null>(null)
  const form = useForm({
    first: { type: (webhook.events[0] ?? 'message.received') as string | null },
    action: useTestWebhook(webhook.id),
    input: ({ type }) => type as EventType,
    onDone: ({ event_id }) => setEventId(event_id),
  })
  return (
    <FormDialog
      onClose={onClose}
      size="l"
      title="Send test event"
      detail={
        <>
          Sends a <span className="mono">webhook.test</span> event to <bdi>{webhook.name}</bdi> once, without retries.
          It contains an example of the type you choose, and does not count as a failure if it is rejected.
        </>
      }
      form={form}
      submit={eventId ? 'Send another' : 'Send test event'}
      icon="play"
      close="Close"
      guarded={false}
    >
      <Stack>
        <Select
          label="Event type"
          description="The test event contains an example of this type."
          data={eventChoices.map(({ value, detail }) => ({ value, label: `${value} – ${detail}` }))}
          {...form.field('type')}
          allowDeselect={false}
        />
        {!webhook.enabled && <Notice tone="note">This webhook is disabled. Test events are sent anyway.</Notice>}
        {eventId && <TestResult key={eventId} webhookId={webhook.id} eventId={eventId} />}
      </Stack>
    </FormDialog>
  )
}

function TestResult({ webhookId, eventId }: { webhookId: string; eventId: string }) {
  const { data: delivery } = useDelivery({ event_id: eventId, webhook_id: webhookId }, { eager: true })
  return (
    <section className={styles.result} aria-label="Test result">
      <div role="status">{delivery && <AttemptResult delivery={delivery} />}</div>
      {delivery?.tries[0] ? <ResponseBody attempt={delivery.tries[0]} /> : <LoadingLines lines={3} />}
      {delivery?.body && <JsonView title="Payload" value={delivery.body} openDepth={2} />}
    </section>
  )
}

function AttemptResult({ delivery }: { delivery: DeliveryDetail }) {
  const attempt = delivery.tries[0]
  if (!attempt) return <Notice tone="note">Sending…</Notice>
  const summary = (
    <span className={styles.outcome}>
      <Outcome attempt={attempt} />
      <span>
        in <Duration ms={attempt.duration_ms} />
      </span>
      {attempt.address && <span className="mono small">{attempt.address}</span>}
    </span>
  )
  if (!attempt.trouble) {
    return (
      <Notice tone="good" title="The endpoint accepted the event.">
        {summary}
      </Notice>
    )
  }
  return (
    <Notice tone="bad" title={attempt.trouble.title}>
      {attempt.trouble.remedy}
      {summary}
    </Notice>
  )
}
