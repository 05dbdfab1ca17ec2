import type { CreatedWebhook } from '@parley/contract/console/webhooks'
import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select } from '../../ui/fields.tsx'
import { errorsIn, toInput, type WebhookDraft, WebhookFields } from './webhook-fields.tsx'
import { useCreateWebhook } from './webhooks.queries.ts'

const pasts = [
  { value: '0', label: 'Only new events' },
  { value: '86400', label: 'Also events of the last day' },
  { value: '604800', label: 'Also events of the last 7 days' },
  { value: '2592000', label: 'Also events of the last 30 days' },
]

const empty: WebhookDraft = {
  name: '',
  url: '',
  events: ['message.received', 'message.failed'],
  senders: [],
  ordering: 'none',
  headers: [],
}

export function CreateWebhookDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (created: CreatedWebhook) => void
}) {
  const [past, setPast] = useState('0')
  const form = useForm({
    first: empty,
    check: errorsIn,
    action: useCreateWebhook(),
    input: (webhook) => ({ ...toInput([])(webhook), pastSeconds: Number(past) }),
    onDone: onCreated,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Create webhook"
      detail="Parley sends signed events to your URL. Events are retried while the URL is down and held while the webhook is disabled."
      form={form}
      submit="Create webhook"
    >
      <WebhookFields form={form} />
      <Select
        label="Past events"
        description="Send the webhook the events of the last days too, in a replay. You can also start one later."
        data={pasts}
        value={past}
        onChange={(value) => setPast(value ?? '0')}
        allowDeselect={false}
      />
    </FormDialog>
  )
}
