import { type FormEvent, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { formatCredits } from '../../lib/format.ts'
import { Button } from '../../ui/button.tsx'
import { NumberInput, TextInput } from '../../ui/fields.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './workspaces.module.css'
import { type OperatedWorkspace, useOperatorDeeds } from './workspaces.queries.ts'

interface State {
  busy: boolean
  amount?: string | undefined
  note?: string | undefined
}

export function CreditForm({ workspace }: { workspace: OperatedWorkspace }) {
  const { credit } = useOperatorDeeds()
  const [amount, setAmount] = useState<number | string>('')
  const [note, setNote] = useState('')
  const [state, setState] = useState<State>({ busy: false })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (state.busy) return
    if (typeof amount !== 'number' || amount === 0)
      return setState({ busy: false, amount: 'Enter how many credits, such as 1000 or -50.' })
    if (!note.trim()) return setState({ busy: false, note: 'Say what it is for; it stays on record.' })
    setState({ busy: true })
    try {
      const { balance } = await credit(workspace.id, amount, note.trim())
      toast.done(`${workspace.name} has ${formatCredits(balance)} credits now`)
      setAmount('')
      setNote('')
      setState({ busy: false })
    } catch (error) {
      const fault = error instanceof ApiError ? error.faultOf('note') : undefined
      setState({ busy: false, ...(fault ? { note: fault } : { amount: wordsOf(error) }) })
    }
  }
  return (
    <form className={styles.line} onSubmit={submit} noValidate>
      <NumberInput
        className={styles.amount}
        label="Amount"
        allowDecimal={false}
        hideControls
        value={amount}
        onChange={setAmount}
        error={state.amount}
      />
      <TextInput
        className={styles.grow}
        label="Note"
        placeholder="Invoice 2026-118"
        autoComplete="off"
        maxLength={200}
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
        error={state.note}
      />
      <Button type="submit" busy={state.busy}>
        {typeof amount === 'number' && amount < 0 ? 'Take' : 'Give'}
      </Button>
    </form>
  )
}
