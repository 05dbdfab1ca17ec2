import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { useCan } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Row, Section } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { toast } from '../../ui/toasts.tsx'
import { useWebhookForm } from './use-webhook-form.ts'
import type { Deed } from './webhook-deeds.tsx'
import { WebhookFields } from './webhook-fields.tsx'
import styles from './webhooks.module.css'
import { useWebhookDeeds } from './webhooks.queries.ts'

interface Props {
  webhook: ConsoleWebhook
  onDeed: (deed: Deed) => void
}

/** What an endpoint is called, where it is and what it listens to. */
export function WebhookSettings({ webhook, onDeed }: Props) {
  return useCan('webhooks:manage') ? <Editable webhook={webhook} onDeed={onDeed} /> : <Readable webhook={webhook} />
}

function Editable({ webhook, onDeed }: Props) {
  const { change } = useWebhookDeeds()
  const { name, url, events } = webhook
  const form = useWebhookForm({ name, url, events: [...events] }, async (draft) => {
    await change(webhook.id, draft)
    toast.done('Webhook changed')
  })
  return (
    <>
      <Section title="Endpoint" detail="A change counts from the next attempt on, also for what waits already.">
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault()
            void form.submit()
          }}
        >
          <div ref={form.fields}>
            {form.faults.form && (
              <div role="alert">
                <Notice tone="bad">{form.faults.form}</Notice>
              </div>
            )}
            <WebhookFields draft={form.draft} faults={form.faults} onChange={form.setDraft} />
          </div>
          <Row justify="flex-end" className={styles.save ?? ''}>
            <Button type="submit" kind="primary" busy={form.busy}>
              Save changes
            </Button>
          </Row>
        </form>
      </Section>
      <Section title="Stop it">
        {webhook.enabled && (
          <div className={styles.danger}>
            <span>Hold its events for a while. None is lost.</span>
            <Button icon="pause" onClick={() => onDeed('disable')}>
              Disable
            </Button>
          </div>
        )}
        <div className={styles.danger}>
          <span>Delete it for good. What waits for it is dropped.</span>
          <Button kind="danger" icon="trash" onClick={() => onDeed('delete')}>
            Delete webhook
          </Button>
        </div>
      </Section>
    </>
  )
}

function Readable({ webhook }: { webhook: ConsoleWebhook }) {
  return (
    <KeyValue
      facts={[
        { name: 'Name', value: <SafeText>{webhook.name}</SafeText> },
        { name: 'URL', value: <bdi className="mono">{webhook.url}</bdi> },
        {
          name: 'Events',
          value: (
            <Row gap={1}>
              {webhook.events.map((event) => (
                <Chip key={event} mono>
                  {event}
                </Chip>
              ))}
            </Row>
          ),
        },
      ]}
    />
  )
}
