import { useState } from 'react'
import { wordsOf } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Notice } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { type OperatedWorkspace, useOperatorDeeds } from './workspaces.queries.ts'

export function SuspendDialog({ workspace, onClose }: { workspace: OperatedWorkspace; onClose: () => void }) {
  const { suspend } = useOperatorDeeds()
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const [state, setState] = useState<{ busy: boolean; fault: string | null }>({ busy: false, fault: null })
  const isReady = reason.trim() !== '' && typed.trim() === workspace.name.trim()
  const submit = async () => {
    if (state.busy || !isReady) return
    setState({ busy: true, fault: null })
    try {
      await suspend(workspace.id, reason.trim())
      toast.done(`${workspace.name} is suspended`)
      onClose()
    } catch (error) {
      setState({ busy: false, fault: wordsOf(error) })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Suspend ${workspace.name}?`}
      detail="Every key is refused from the next call on, and nothing more is sent. What comes in is kept, and nothing is deleted."
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="danger" busy={state.busy} disabled={!isReady}>
            Suspend
          </Button>
        </>
      }
    >
      <TextInput
        label="Reason"
        description="Shown to its team on every page."
        placeholder="Invoice 2026-104 is unpaid. Write to billing@example.com."
        maxLength={300}
        value={reason}
        onChange={(event) => setReason(event.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label={
          <>
            Type <bdi className="mono">{workspace.name}</bdi> to go on
          </>
        }
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      <div role="alert">{state.fault && <Notice tone="bad">{state.fault}</Notice>}</div>
    </Dialog>
  )
}
