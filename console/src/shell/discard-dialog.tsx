import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

interface Props {
  open: boolean
  onAnswer: (isDiscarded: boolean) => void
}

/** Asks before edits are lost: on leaving the page and on closing a dialog. */
export function DiscardDialog({ open, onAnswer }: Props) {
  const keep = () => onAnswer(false)
  return (
    <Dialog
      open={open}
      onClose={keep}
      size="s"
      title="Discard your changes?"
      actions={
        <>
          <Button onClick={keep}>Keep editing</Button>
          <Button kind="danger" onClick={() => onAnswer(true)}>
            Discard changes
          </Button>
        </>
      }
    >
      <p>What you entered is not saved and will be lost.</p>
    </Dialog>
  )
}
