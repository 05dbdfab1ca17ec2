import type { ConsoleWebhook, CreatedWebhook } from '@parley/contract/console/webhooks'
import { plural } from '../../lib/format.ts'
import { useForm } from '../../lib/use-form.ts'
import { useRecover } from '../../parts/deliveries/deliveries.queries.ts'
import { ConfirmDialog, FormDialog } from '../../ui/dialog.tsx'
import { SegmentedControl, Textarea, TextInput } from '../../ui/fields.tsx'
import { useDeleteWebhook, useDisableWebhook, useRotateSecret } from './webhooks.queries.ts'

export type WebhookAction = 'test' | 'disable' | 'rotate' | 'delete' | 'recover'

interface DialogProps {
  webhook: ConsoleWebhook
  onClose: () => void
}

/** Disables a webhook. Its events are held until it is enabled. */
export function DisableDialog({ webhook, onClose }: DialogProps) {
  const form = useForm({
    first: { reason: '' },
    action: useDisableWebhook(webhook.id),
    input: ({ reason }) => reason.trim(),
    onDone: onClose,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Disable webhook"
      size="s"
      form={form}
      submit="Disable webhook"
      disabled={form.values.reason.trim() === ''}
    >
      <p>New events are held and sent when you enable it again.</p>
      <Textarea
        label="Reason"
        description="Shown to your team on this webhook’s page."
        maxLength={500}
        autosize
        minRows={2}
        data-autofocus
        {...form.text('reason')}
      />
    </FormDialog>
  )
}

/** Creates a new secret. The old one stops working immediately. */
export function RotateDialog({
  webhook,
  onClose,
  onCreated,
}: DialogProps & { onCreated: (created: CreatedWebhook) => void }) {
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Rotate signing secret"
      confirm="Rotate secret"
      action={useRotateSecret(webhook.id)}
      input={undefined}
      onDone={onCreated}
    >
      <p>
        <strong>
          The old secret of <bdi>{webhook.name}</bdi> stops working immediately.
        </strong>{' '}
        Deliveries are signed with the new one from now on. Deliveries that your endpoint rejects until you update it
        are retried.
      </p>
    </ConfirmDialog>
  )
}

export function DeleteDialog({ webhook, onClose, onDeleted }: DialogProps & { onDeleted: () => void }) {
  const pending = webhook.held.count + webhook.waiting.count
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Delete webhook"
      confirm="Delete webhook"
      typed={webhook.name}
      action={useDeleteWebhook(webhook.id)}
      input={undefined}
      onDone={onDeleted}
    >
      <p>No more events are sent to it. Past deliveries stay in the log. This cannot be undone.</p>
      {pending > 0 && <p>{plural(pending, 'pending delivery', 'pending deliveries')} will be discarded.</p>}
    </ConfirmDialog>
  )
}

const spans = [
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '24 hours' },
  { value: '604800', label: '7 days' },
  { value: 'since', label: 'Since…' },
]

/** Retries all deliveries that failed permanently since a time. */
export function RecoverDialog({ webhook, onClose }: DialogProps) {
  const form = useForm({
    first: { span: '86400', since: '' },
    action: useRecover(webhook.id),
    input: (values) => startOf(values).toISOString(),
    onDone: onClose,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Retry failed deliveries"
      size="s"
      form={form}
      submit="Retry deliveries"
      disabled={Number.isNaN(startOf(form.values).getTime())}
    >
      <p>
        Retries every delivery to <bdi>{webhook.name}</bdi> that failed permanently, with a new retry schedule.
      </p>
      <SegmentedControl
        aria-label="Failed within"
        data={spans}
        value={form.values.span}
        onChange={(span) => form.set({ span })}
        fullWidth
      />
      {form.values.span === 'since' && <TextInput type="datetime-local" label="Since" {...form.text('since')} />}
    </FormDialog>
  )
}

const startOf = ({ span, since }: { span: string; since: string }) =>
  span === 'since' ? new Date(since) : new Date(Date.now() - Number(span) * 1000)
