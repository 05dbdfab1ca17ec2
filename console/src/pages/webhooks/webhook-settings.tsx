import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import type { Webhook } from '@parley/contract/webhook'
import { useState } from 'react'
import { useCan } from '../../lib/session.ts'
import { useForm } from '../../lib/use-form.ts'
import { senderName, useSenderChoice } from '../../parts/network.queries.ts'
import { Button } from '../../ui/button.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Form } from '../../ui/form.tsx'
import { Row, Section } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import type { WebhookAction } from './webhook-actions.tsx'
import { errorsIn, toInput, type WebhookDraft, WebhookFields } from './webhook-fields.tsx'
import { savedHeaders } from './webhook-options.tsx'
import styles from './webhooks.module.css'
import { useChangeWebhook } from './webhooks.queries.ts'

interface Props {
  webhook: ConsoleWebhook
  onAction: (action: WebhookAction) => void
}

/** The settings of a webhook, editable by admins. */
export function WebhookSettings({ webhook, onAction }: Props) {
  return useCan('webhooks:manage') ? <Editable webhook={webhook} onAction={onAction} /> : <ReadOnly webhook={webhook} />
}

function Editable({ webhook, onAction }: Props) {
  // A new form after each save: it must not keep the values of headers.
  const [saved, setSaved] = useState<{ webhook: Webhook; count: number }>({ webhook, count: 0 })
  return (
    <>
      <Section title="Webhook" detail="Changes take effect immediately, even for pending deliveries.">
        <SettingsForm
          key={saved.count}
          webhook={saved.webhook}
          onSaved={(next) => setSaved({ webhook: next, count: saved.count + 1 })}
        />
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

function SettingsForm({ webhook, onSaved }: { webhook: Webhook; onSaved: (webhook: Webhook) => void }) {
  const { name, url, events, senders, ordering, headers } = webhook
  const first: WebhookDraft = {
    name,
    url,
    events: [...events],
    senders: senders ?? [],
    ordering,
    headers: savedHeaders(headers),
  }
  const form = useForm({
    first,
    check: errorsIn,
    action: useChangeWebhook(webhook.id),
    input: toInput(headers),
    onDone: onSaved,
  })
  return (
    <Form form={form}>
      <WebhookFields form={form} />
      <Row justify="flex-end" className={styles.save ?? ''}>
        <Button type="submit" kind="primary" busy={form.isPending}>
          Save changes
        </Button>
      </Row>
    </Form>
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
        { name: 'Senders', value: webhook.senders === null ? 'All' : <SenderNames ids={webhook.senders} /> },
        { name: 'Order', value: webhook.ordering === 'none' ? 'None' : 'Of each conversation' },
        webhook.headers.length > 0 && {
          name: 'Headers',
          value: <bdi className="mono">{webhook.headers.join(', ')}</bdi>,
        },
      ]}
    />
  )
}

function SenderNames({ ids }: { ids: readonly string[] }) {
  const senders = useSenderChoice().data?.data ?? []
  return ids
    .map((id) => {
      const sender = senders.find((each) => each.id === id)
      return sender ? senderName(sender) : id
    })
    .join(', ')
}
