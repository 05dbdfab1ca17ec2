import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

interface Props {
  open: boolean
  onChoice: (isDiscarded: boolean) => void
}

/** Asks before edits are lost: on leaving the page and on closing a dialog. */
export function DiscardDialog({ open, onChoice }: Props) {
  const keep = () => onChoice(false)
  return (
    <Dialog
      open={open}
      onClose={keep}
      size="s"
      title="Discard your changes?"
      actions={
        <>
          <Button onClick={keep}>Keep editing</Button>
          <Button kind="danger" onClick={() => onChoice(true)}>
            Discard changes
          </Button>
        </>
      }
    >
      <p>What you entered is not saved and will be lost.</p>
    </Dialog>
  )
}
