import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

interface Props {
  open: boolean
  onDecide: (isDiscarded: boolean) => void
}

/** Asks before edits are lost: on leaving the page and on closing a dialog. */
export function DiscardDialog({ open, onDecide }: Props) {
  const keep = () => onDecide(false)
  return (
    <Dialog
      open={open}
      onClose={keep}
      size="s"
      title="Discard your changes?"
      actions={
        <>
          <Button onClick={keep}>Keep editing</Button>
          <Button kind="danger" onClick={() => onDecide(true)}>
            Discard changes
          </Button>
        </>
      }
    >
      <p>What you entered is not saved and will be lost.</p>
    </Dialog>
  )
}
