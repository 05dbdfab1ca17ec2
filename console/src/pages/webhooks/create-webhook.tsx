import type { MadeWebhook } from '@parley/contract/console/webhooks'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import { useWebhookForm } from './use-webhook-form.ts'
import { WebhookFields } from './webhook-fields.tsx'
import { useWebhookDeeds } from './webhooks.queries.ts'

const empty = { name: '', url: '', events: ['message.received', 'message.failed'] }

/** Makes an endpoint. */
export function CreateWebhookDialog({ onClose, onMade }: { onClose: () => void; onMade: (made: MadeWebhook) => void }) {
  const { create } = useWebhookDeeds()
  const form = useWebhookForm(empty, async (draft) => onMade(await create(draft)))
  return (
    <Dialog
      open
      onClose={onClose}
      title="Create webhook"
      detail="An endpoint of yours that events are posted to, signed, and never lost."
      onSubmit={form.submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={form.busy}>
            Create webhook
          </Button>
        </>
      }
    >
      <div ref={form.fields}>
        {form.faults.form && (
          <div role="alert">
            <Notice tone="bad">{form.faults.form}</Notice>
          </div>
        )}
        <WebhookFields draft={form.draft} faults={form.faults} onChange={form.setDraft} focus />
      </div>
    </Dialog>
  )
}
