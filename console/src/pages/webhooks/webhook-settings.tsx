import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { useCan } from '../../lib/session.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Form } from '../../ui/form.tsx'
import { Row, Section } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import type { WebhookAction } from './webhook-actions.tsx'
import { errorsIn, trimmed, WebhookFields } from './webhook-fields.tsx'
import styles from './webhooks.module.css'
import { useChangeWebhook } from './webhooks.queries.ts'

interface Props {
  webhook: ConsoleWebhook
  onAction: (action: WebhookAction) => void
}

/** Name, URL and events of a webhook, editable by admins. */
export function WebhookSettings({ webhook, onAction }: Props) {
  return useCan('webhooks:manage') ? <Editable webhook={webhook} onAction={onAction} /> : <ReadOnly webhook={webhook} />
}

function Editable({ webhook, onAction }: Props) {
  const { name, url, events } = webhook
  const form = useForm({
    first: { name, url, events: [...events] as string[] },
    check: errorsIn,
    action: useChangeWebhook(webhook.id),
    input: trimmed,
  })
  return (
    <>
      <Section title="Webhook" detail="Changes take effect immediately, also for pending deliveries.">
        <Form form={form}>
          <WebhookFields form={form} />
          <Row justify="flex-end" className={styles.save ?? ''}>
            <Button type="submit" kind="primary" busy={form.isPending}>
              Save changes
            </Button>
          </Row>
        </Form>
      </Section>
      <Section title="Disable or delete">
        {webhook.enabled && (
          <div className={styles.danger}>
            <span>Hold events until you enable it again.</span>
            <Button icon="pause" onClick={() => onAction('disable')}>
              Disable webhook
            </Button>
          </div>
        )}
        <div className={styles.danger}>
          <span>Delete permanently. Pending deliveries are discarded.</span>
          <Button kind="danger" icon="trash" onClick={() => onAction('delete')}>
            Delete webhook
          </Button>
        </div>
      </Section>
    </>
  )
}

function ReadOnly({ webhook }: { webhook: ConsoleWebhook }) {
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
