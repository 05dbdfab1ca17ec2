import { useSession } from '../../lib/session.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Form } from '../../ui/form.tsx'
import { Section } from '../../ui/layout.tsx'
import styles from './account.module.css'
import { useRename } from './account.queries.ts'

export function ProfileSection() {
  const { person } = useSession()
  const form = useForm({
    first: { name: person.name },
    check: ({ name }) => ({ name: name.trim() ? undefined : 'Enter your name.' }),
    action: useRename(),
    input: ({ name }) => name,
    onDone: ({ name }) => form.set({ name }),
  })
  return (
    <Section title="Profile" detail="How you appear to your teams and in the audit log.">
      <Form form={form} className={styles.form}>
        <TextInput label="Name" autoComplete="name" {...form.text('name')} />
        <TextInput
          label="Email address"
          description="You sign in with this address. It cannot be changed."
          value={person.email}
          readOnly
          autoComplete="username"
        />
        <Button type="submit" busy={form.isPending} disabled={form.values.name.trim() === person.name}>
          Save name
        </Button>
      </Form>
    </Section>
  )
}
