import type { CreatedWebhook } from '@parley/contract/console/webhooks'
import { useForm } from '../../lib/use-form.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { errorsIn, trimmed, WebhookFields } from './webhook-fields.tsx'
import { useCreateWebhook } from './webhooks.queries.ts'

/** Makes an endpoint. */
export function CreateWebhookDialog({
  onClose,
  onMade,
}: {
  onClose: () => void
  onMade: (made: CreatedWebhook) => void
}) {
  const form = useForm({
    first: { name: '', url: '', events: ['message.received', 'message.failed'] },
    check: errorsIn,
    action: useCreateWebhook(),
    input: trimmed,
    onDone: onMade,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Create webhook"
      detail="An endpoint of yours that events are posted to, signed, and never lost."
      form={form}
      submit="Create webhook"
    >
      <WebhookFields form={form} />
    </FormDialog>
  )
}
