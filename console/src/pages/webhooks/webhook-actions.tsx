import type { ConsoleWebhook, CreatedWebhook } from '@parley/contract/console/webhooks'
import { plural } from '../../lib/format.ts'
import { useForm } from '../../lib/use-form.ts'
import { useRecover } from '../../parts/deliveries/deliveries.queries.ts'
import { ConfirmDialog, FormDialog } from '../../ui/dialog.tsx'
import { SegmentedControl, Textarea, TextInput } from '../../ui/fields.tsx'
import { useDeleteWebhook, useDisableWebhook, useRotateSecret } from './webhooks.queries.ts'

export type WebhookAction = 'test' | 'disable' | 'rotate' | 'delete' | 'recover'

interface DeedProps {
  webhook: ConsoleWebhook
  onClose: () => void
}

/** Holds an endpoint's events until it is enabled. */
export function DisableDialog({ webhook, onClose }: DeedProps) {
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
      submit="Disable"
      disabled={form.values.reason.trim() === ''}
    >
      <p>Nothing is lost: events for it are held, and sent once it is enabled again.</p>
      <Textarea
        label="Reason"
        description="For whoever wonders why nothing arrives."
        maxLength={500}
        autosize
        minRows={2}
        data-autofocus
        {...form.text('reason')}
      />
    </FormDialog>
  )
}

/** Issues a new secret; the old one is dead at once. */
export function RotateDialog({ webhook, onClose, onMade }: DeedProps & { onMade: (made: CreatedWebhook) => void }) {
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Rotate signing secret"
      confirm="Rotate secret"
      action={useRotateSecret(webhook.id)}
      input={undefined}
      onDone={onMade}
    >
      <p>
        <bdi>{webhook.name}</bdi> gets a new secret, which is shown once. <strong>The old one is dead at once:</strong>{' '}
        until your receiver knows the new one it refuses deliveries, and those are tried again by themselves.
      </p>
    </ConfirmDialog>
  )
}

export function DeleteDialog({ webhook, onClose, onDeleted }: DeedProps & { onDeleted: () => void }) {
  const open = webhook.held.count + webhook.waiting.count
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
      <p>It gets nothing more, and it does not come back. What it was sent stays on record.</p>
      {open > 0 && <p>{plural(open, 'delivery', 'deliveries')} that it has not taken yet will be dropped.</p>}
    </ConfirmDialog>
  )
}

const spans = [
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '24 hours' },
  { value: '604800', label: '7 days' },
  { value: 'since', label: 'Since…' },
]

/** Sends everything again that failed for good since a time. */
export function RecoverDialog({ webhook, onClose }: DeedProps) {
  const form = useForm({
    first: { span: '86400', since: '' },
    action: useRecover(webhook.id),
    input: (values) => startOf(values).toISOString(),
    onDone: onClose,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Recover failed deliveries"
      size="s"
      form={form}
      submit="Recover"
      disabled={Number.isNaN(startOf(form.values).getTime())}
    >
      <p>
        Everything that failed for good is sent to <bdi>{webhook.name}</bdi> once more, with a fresh schedule.
      </p>
      <SegmentedControl
        aria-label="What failed within"
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
