import { discardQuestion } from '../lib/leave-guard.ts'
import { useStore } from '../lib/store.ts'
import { Button } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'

/** Asks before edits are lost: on leaving the page and on closing a dialog. */
export function DiscardDialog() {
  const question = useStore(discardQuestion)
  const keep = () => question?.answer(false)
  return (
    <Dialog
      open={question !== null}
      onClose={keep}
      size="s"
      title="Discard your changes?"
      actions={
        <>
          <Button onClick={keep}>Keep editing</Button>
          <Button kind="danger" onClick={() => question?.answer(true)}>
            Discard changes
          </Button>
        </>
      }
    >
      <p>What you entered is not saved and will be lost.</p>
    </Dialog>
  )
}
