import type { CreatedWebhook } from '@parley/contract/console/webhooks'
import { useForm } from '../../lib/use-form.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { errorsIn, trimmed, WebhookFields } from './webhook-fields.tsx'
import { useCreateWebhook } from './webhooks.queries.ts'

export function CreateWebhookDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (created: CreatedWebhook) => void
}) {
  const form = useForm({
    first: { name: '', url: '', events: ['message.received', 'message.failed'] },
    check: errorsIn,
    action: useCreateWebhook(),
    input: trimmed,
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
    </FormDialog>
  )
}
