import type { ConsoleWebhook, MadeWebhook } from '@parley/contract/console/webhooks'
import { useState } from 'react'
import { wordsOf } from '../../lib/api.ts'
import { plural } from '../../lib/format.ts'
import { useRetries } from '../../parts/deliveries/deliveries.queries.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { SegmentedControl, Textarea, TextInput } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { useWebhookDeeds } from './webhooks.queries.ts'

export type Deed = 'test' | 'disable' | 'rotate' | 'delete' | 'recover'

interface DeedProps {
  webhook: ConsoleWebhook
  onClose: () => void
}

/** Holds an endpoint's events until it is enabled. */
export function DisableDialog({ webhook, onClose }: DeedProps) {
  const { disable } = useWebhookDeeds()
  const [reason, setReason] = useState('')
  return (
    <DeedDialog
      title="Disable webhook"
      deed="Disable"
      onClose={onClose}
      isReady={reason.trim() !== ''}
      onDone={async () => {
        await disable(webhook.id, reason.trim())
        toast.done('Webhook disabled; its events are held')
      }}
    >
      <p>Nothing is lost: events for it are held, and sent once it is enabled again.</p>
      <Textarea
        label="Reason"
        description="For whoever wonders why nothing arrives."
        value={reason}
        maxLength={500}
        autosize
        minRows={2}
        data-autofocus
        onChange={(event) => setReason(event.currentTarget.value)}
      />
    </DeedDialog>
  )
}

/** Issues a new secret; the old one is dead at once. */
export function RotateDialog({ webhook, onClose, onMade }: DeedProps & { onMade: (made: MadeWebhook) => void }) {
  const { rotate } = useWebhookDeeds()
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title="Rotate signing secret"
      confirm="Rotate secret"
      onConfirm={async () => onMade(await rotate(webhook.id))}
    >
      <p>
        <bdi>{webhook.name}</bdi> gets a new secret, which is shown once. <strong>The old one is dead at once:</strong>{' '}
        until your receiver knows the new one it refuses deliveries, and those are tried again by themselves.
      </p>
    </ConfirmDialog>
  )
}

export function DeleteDialog({ webhook, onClose, onDeleted }: DeedProps & { onDeleted: () => void }) {
  const { remove } = useWebhookDeeds()
  const open = webhook.held.count + webhook.waiting.count
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title="Delete webhook"
      confirm="Delete webhook"
      typed={webhook.name}
      onConfirm={async () => {
        await remove(webhook.id)
        toast.done('Webhook deleted')
        onDeleted()
      }}
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
  const retries = useRetries()
  const [span, setSpan] = useState('86400')
  const [since, setSince] = useState('')
  const from = span === 'since' ? new Date(since) : new Date(Date.now() - Number(span) * 1000)
  return (
    <DeedDialog
      title="Recover failed deliveries"
      deed="Recover"
      onClose={onClose}
      isReady={!Number.isNaN(from.getTime())}
      onDone={async () => {
        const retried = await retries.failedSince(webhook.id, from)
        if (retried === 0) toast.note('Nothing had failed in that time')
        else toast.done(`${plural(retried, 'delivery', 'deliveries')} queued again`)
      }}
    >
      <p>
        Everything that failed for good is sent to <bdi>{webhook.name}</bdi> once more, with a fresh schedule.
      </p>
      <SegmentedControl aria-label="What failed within" data={spans} value={span} onChange={setSpan} fullWidth />
      {span === 'since' && (
        <TextInput
          type="datetime-local"
          label="Since"
          value={since}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
      )}
    </DeedDialog>
  )
}

interface DeedDialogProps {
  title: string
  deed: string
  isReady: boolean
  onClose: () => void
  onDone: () => Promise<void>
  children: React.ReactNode
}

/** A small form that does one thing, says why it could not, and closes once it is done. */
function DeedDialog({ title, deed, isReady, onClose, onDone, children }: DeedDialogProps) {
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null })
  const submit = async () => {
    if (!isReady) return
    setState({ busy: true, error: null })
    try {
      await onDone()
      onClose()
    } catch (error) {
      setState({ busy: false, error })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      size="s"
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={state.busy} disabled={!isReady}>
            {deed}
          </Button>
        </>
      }
    >
      <Stack>
        {children}
        {state.error !== null && (
          <div role="alert">
            <Notice tone="bad">{wordsOf(state.error)}</Notice>
          </div>
        )}
      </Stack>
    </Dialog>
  )
}
