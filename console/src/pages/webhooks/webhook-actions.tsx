import type { ConsoleWebhook, CreatedWebhook } from '@parley/contract/console/webhooks'
import { serviceNow } from '../../lib/clock.ts'
import { plural } from '../../lib/format.ts'
import { useForm } from '../../lib/use-form.ts'
import { useRecover } from '../../parts/deliveries/deliveries.queries.ts'
import { ConfirmDialog, FormDialog } from '../../ui/dialog.tsx'
import { SegmentedControl, Textarea, TimeInput } from '../../ui/fields.tsx'
import { spans, startOf } from './replay-dialog.tsx'
import {
  useActivateSecret,
  useCancelRotation,
  useDeleteWebhook,
  useDisableWebhook,
  useRotateSecret,
} from './webhooks.queries.ts'

export type WebhookAction =
  | 'test'
  | 'disable'
  | 'rotate'
  | 'activate'
  | 'cancel rotation'
  | 'delete'
  | 'recover'
  | 'replay'

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

/** A secret that was just created, and whether the old one still signs as well. */
export interface NewSecret {
  created: CreatedWebhook
  isStaged: boolean
}

const rotations = [
  { value: 'staged', label: 'Sign with both' },
  { value: 'now', label: 'Replace now' },
]

/** Creates a new secret. The old one stops working when the new one is activated, or immediately. */
export function RotateDialog({
  webhook,
  onClose,
  onCreated,
}: DialogProps & { onCreated: (secret: NewSecret) => void }) {
  const form = useForm({
    first: { rotation: 'staged' },
    action: useRotateSecret(webhook.id),
    input: ({ rotation }) => ({ staged: rotation === 'staged' }),
    onDone: (created) => {
      onClose()
      onCreated({ created, isStaged })
    },
  })
  const isStaged = form.values.rotation === 'staged'
  return (
    <FormDialog
      onClose={onClose}
      title="Rotate signing secret"
      size="s"
      form={form}
      submit={isStaged ? 'Create new secret' : 'Rotate secret'}
      danger={!isStaged}
    >
      <SegmentedControl
        aria-label="Rotation"
        data={rotations}
        value={form.values.rotation}
        onChange={(rotation) => form.set({ rotation })}
        fullWidth
      />
      {isStaged ? (
        <p>
          Deliveries to <bdi>{webhook.name}</bdi> are signed with the old and the new secret until you activate the new
          one. Your endpoint has to accept a delivery if one of its signatures matches.
        </p>
      ) : (
        <>
          <p>
            <strong>
              The old secret of <bdi>{webhook.name}</bdi> stops working immediately.
            </strong>{' '}
            Deliveries are signed with the new secret from now on. Deliveries that failed within the last hour are
            retried.
          </p>
          <p>
            Until your endpoint has the new secret it rejects deliveries. They are retried; after {webhook.failures_max}{' '}
            consecutive failures the webhook is disabled and its events are held until you enable it. No event is lost.
          </p>
        </>
      )}
      {webhook.staged_secret_hint !== null && (
        <p>
          The pending secret <span className="mono">{webhook.staged_secret_hint}</span> is dropped.
        </p>
      )}
    </FormDialog>
  )
}

/** Ends the old secret of a staged rotation. */
export function ActivateDialog({ webhook, onClose }: DialogProps) {
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Activate new secret"
      confirm="Activate new secret"
      action={useActivateSecret(webhook.id)}
      input={undefined}
    >
      <p>
        <strong>
          The old secret <span className="mono">{webhook.secret_hint}</span> stops working immediately.
        </strong>{' '}
        Deliveries are signed with <span className="mono">{webhook.staged_secret_hint}</span> only. Deliveries that
        failed within the last hour are retried.
      </p>
    </ConfirmDialog>
  )
}

/** Drops the new secret of a staged rotation. */
export function CancelRotationDialog({ webhook, onClose }: DialogProps) {
  return (
    <ConfirmDialog
      onClose={onClose}
      title="Cancel rotation"
      confirm="Drop new secret"
      action={useCancelRotation(webhook.id)}
      input={undefined}
    >
      <p>
        Deliveries are signed with the old secret <span className="mono">{webhook.secret_hint}</span> only. An endpoint
        that already uses the new one rejects them.
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

/** Retries all deliveries that failed permanently since a time. */
export function RecoverDialog({ webhook, onClose }: DialogProps) {
  const form = useForm({
    first: { span: '86400', since: '' },
    action: useRecover(webhook.id),
    input: (values) => startOf(values, serviceNow()) ?? '',
    onDone: onClose,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Retry failed deliveries"
      size="s"
      form={form}
      submit="Retry deliveries"
      disabled={startOf(form.values, serviceNow()) === null}
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
      {form.values.span === 'since' && <TimeInput label="Since" {...form.text('since')} />}
    </FormDialog>
  )
}
