import { type FormEvent, useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { Button } from '../../ui/button.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './settings.module.css'
import { useChangeSettings, type WorkspaceSettings } from './settings.queries.ts'

export function NameForm({ settings }: { settings: WorkspaceSettings }) {
  const change = useChangeSettings()
  const [name, setName] = useState(settings.name)
  const [state, setState] = useState<{ busy: boolean; fault: string | null }>({ busy: false, fault: null })
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (state.busy) return
    if (!name.trim()) return setState({ busy: false, fault: 'Enter a name.' })
    setState({ busy: true, fault: null })
    try {
      await change({ name: name.trim() })
      setState({ busy: false, fault: null })
      toast.done('Name changed')
    } catch (error) {
      setState({ busy: false, fault: (error instanceof ApiError && error.faultOf('name')) || wordsOf(error) })
    }
  }
  return (
    <form className={styles.line} onSubmit={submit} noValidate>
      <TextInput
        label="Name"
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={state.fault}
        autoComplete="off"
      />
      <Button type="submit" busy={state.busy} disabled={name.trim() === settings.name}>
        Save
      </Button>
    </form>
  )
}
