import { type FormEvent, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { NumberInput } from '../../ui/fields.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './settings.module.css'
import { useChangeSettings, type WorkspaceSettings } from './settings.queries.ts'

export function LowBalanceForm({ settings }: { settings: WorkspaceSettings }) {
  const change = useChangeSettings()
  const [value, setValue] = useState<number | string>(settings.low_balance)
  const [state, setState] = useState<{ busy: boolean; fault: string | null }>({ busy: false, fault: null })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (state.busy) return
    if (typeof value !== 'number') return setState({ busy: false, fault: 'Enter a whole number; 0 for no warning.' })
    setState({ busy: true, fault: null })
    try {
      await change({ low_balance: value })
      setState({ busy: false, fault: null })
      toast.done('Threshold changed')
    } catch (error) {
      setState({ busy: false, fault: (error instanceof ApiError && error.faultOf('low_balance')) || wordsOf(error) })
    }
  }
  return (
    <form className={styles.line} onSubmit={submit} noValidate>
      <NumberInput
        label="Warn below"
        description="Credits; the console then warns on every page. 0 for no warning."
        min={0}
        max={1_000_000_000}
        allowDecimal={false}
        allowNegative={false}
        thousandSeparator=" "
        value={value}
        onChange={setValue}
        error={state.fault}
      />
      <Button type="submit" busy={state.busy} disabled={value === settings.low_balance}>
        Save
      </Button>
    </form>
  )
}
