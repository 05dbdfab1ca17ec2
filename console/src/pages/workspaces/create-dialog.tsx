import { useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { useSearchParams } from '../../lib/url.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { toast } from '../../ui/toasts.tsx'
import { useOperatorDeeds } from './workspaces.queries.ts'

export function CreateDialog({ onClose }: { onClose: () => void }) {
  const { create } = useOperatorDeeds()
  const [, change] = useSearchParams()
  const [name, setName] = useState('')
  const [state, setState] = useState<{ busy: boolean; fault: string | null }>({ busy: false, fault: null })
  const submit = async () => {
    if (state.busy) return
    if (!name.trim()) return setState({ busy: false, fault: 'Enter a name.' })
    setState({ busy: true, fault: null })
    try {
      const { id } = await create(name.trim())
      onClose()
      toast.done(`${name.trim()} is there. Invite its first admin next.`)
      change({ tab: null, open: id }, { push: true })
    } catch (error) {
      setState({ busy: false, fault: (error instanceof ApiError && error.faultOf('name')) || wordsOf(error) })
    }
  }
  return (
    <Dialog
      open
      onClose={onClose}
      size="s"
      title="Create a workspace"
      detail="It begins empty: no members, no credits, no senders."
      onSubmit={submit}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" busy={state.busy}>
            Create
          </Button>
        </>
      }
    >
      <TextInput
        label="Name"
        placeholder="Acme"
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={state.fault}
        data-autofocus
      />
    </Dialog>
  )
}
