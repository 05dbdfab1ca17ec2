import type { ConsoleWebhook, TestSent } from '@parley/contract/console/webhooks'
import { useState } from 'react'
import { type List, useData } from '../../../lib/query.ts'
import { useHere, useSession } from '../../../lib/session.ts'
import { useAction } from '../../../lib/use-action.ts'
import { Outcome } from '../../../parts/deliveries/attempts.tsx'
import { useDelivery } from '../../../parts/deliveries/deliveries.queries.ts'
import { Button } from '../../../ui/button.tsx'
import { CodeBlock } from '../../../ui/code-block.tsx'
import { Select } from '../../../ui/fields.tsx'
import { ExternalLink } from '../../../ui/link.tsx'
import { LoadingLines, Notice } from '../../../ui/states.tsx'
import styles from '../onboarding.module.css'
import { listenCommand } from './listen-command.ts'

/** Sends a signed test event to a webhook and shows the response. */
export function VerifyStep() {
  const here = useHere()
  const { public_url: publicUrl } = useSession()
  const { data } = useData<List<ConsoleWebhook>>(here.api('webhooks'), { topics: ['webhooks'] })
  const [chosen, setChosen] = useState<string | null>(null)
  const [sent, setSent] = useState<{ event_id: string; webhook_id: string } | null>(null)
  const test = useAction((send, { id, events }: ConsoleWebhook) =>
    send<TestSent>('POST', here.api(`webhooks/${id}/test`), { type: events[0] ?? 'message.received' }),
  )
  if (!data) return <LoadingLines lines={2} />
  const webhook = data.data.find(({ id }) => id === chosen) ?? data.data[0]
  if (!webhook) return <Notice tone="note">There is no webhook yet. Create one first.</Notice>
  const command = listenCommand(webhook.url)
  const run = () => test.run(webhook, { onDone: ({ event_id }) => setSent({ event_id, webhook_id: webhook.id }) })
  return (
    <div className={styles.fields}>
      {data.data.length > 1 && (
        <Select
          label="Webhook"
          data={data.data.map(({ id, name }) => ({ value: id, label: name }))}
          value={webhook.id}
          onChange={setChosen}
          allowDeselect={false}
        />
      )}
      {command ? (
        <>
          <span>Receive and verify the events on this machine, with the signing secret of the webhook:</span>
          <CodeBlock language="shell" code={command} />
        </>
      ) : (
        <span>
          Parley signs each event. Your endpoint verifies the signature with the secret of the webhook:{' '}
          <ExternalLink href={`${publicUrl}/docs/events/verify`}>code to verify it</ExternalLink>.
        </span>
      )}
      <div className={styles.result}>
        <Button kind="primary" icon="play" busy={test.isPending} onClick={run}>
          {sent ? 'Send another' : 'Send test event'}
        </Button>
      </div>
      {sent && <TestResult key={sent.event_id} {...sent} />}
    </div>
  )
}

function TestResult({ event_id, webhook_id }: { event_id: string; webhook_id: string }) {
  const { data: delivery } = useDelivery({ event_id, webhook_id }, { eager: true })
  const attempt = delivery?.tries[0]
  return (
    <div role="status">
      {!attempt ? (
        <span className="quiet">Sending…</span>
      ) : attempt.trouble ? (
        <Notice tone="bad" title={attempt.trouble.title}>
          {attempt.trouble.remedy} <Outcome attempt={attempt} />
        </Notice>
      ) : (
        <Notice tone="good" title="The endpoint accepted the event.">
          <Outcome attempt={attempt} />
        </Notice>
      )}
    </div>
  )
}
