import { plural } from '../../lib/format.ts'
import type { Action } from '../../lib/use-action.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'

interface SendAgainDialogProps<Input> {
  /** How many of them the receiver has already. */
  delivered: number
  action: Action<Input, unknown>
  input: Input
  onClose: () => void
  onDone?: () => void
}

/** Asks before events are sent again that the receiver has accepted. */
export function SendAgainDialog<Input>({ delivered, action, input, onClose, onDone }: SendAgainDialogProps<Input>) {
  return (
    <ConfirmDialog
      onClose={onClose}
      title={delivered === 1 ? 'Send a delivered event again' : 'Send delivered events again'}
      confirm="Send again"
      danger={false}
      action={action}
      input={input}
      {...(onDone ? { onDone } : {})}
    >
      <p>
        {delivered === 1
          ? 'The receiver has accepted this event.'
          : `Receivers have accepted ${plural(delivered, 'event')} of these.`}{' '}
        A receiver that does not recognize a repeated <span className="mono">Webhook-Id</span> processes it twice.
      </p>
    </ConfirmDialog>
  )
}
