import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import styles from './settings.module.css'
import { useChangeSettings, type WorkspaceSettings } from './settings.queries.ts'

export function NameForm({ settings }: { settings: WorkspaceSettings }) {
  const form = useForm({
    first: { name: settings.name },
    check: ({ name }) => ({ name: name.trim() ? undefined : 'Enter a name.' }),
    action: useChangeSettings('Name saved'),
    input: ({ name }) => ({ name: name.trim() }),
  })
  return (
    <Form form={form} className={styles.line}>
      <TextInput label="Name" autoComplete="off" {...form.text('name')} />
      <Button type="submit" busy={form.isPending} disabled={form.values.name.trim() === settings.name}>
        Save
      </Button>
    </Form>
  )
}
