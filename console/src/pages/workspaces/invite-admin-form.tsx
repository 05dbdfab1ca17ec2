import { emailError } from '../../lib/email.ts'
import { useForm } from '../../lib/use-form.ts'
import { EmailInput } from '../../parts/email-input.tsx'
import { Button } from '../../ui/button.tsx'
import { Form } from '../../ui/form.tsx'
import styles from './workspaces.module.css'
import { type CreatedLink, type OperatedWorkspace, useInviteAdmin } from './workspaces.queries.ts'

export function InviteAdminForm({
  workspace,
  onCreated,
}: {
  workspace: OperatedWorkspace
  onCreated: (created: { email: string; link: CreatedLink }) => void
}) {
  const form = useForm({
    first: { email: '' },
    check: ({ email }) => ({ email: emailError(email) }),
    action: useInviteAdmin(workspace),
    input: ({ email }) => email.trim(),
    onDone: (link, { email }): void => {
      onCreated({ email: email.trim(), link })
      form.reset()
    },
  })
  return (
    <Form form={form} className={styles.line}>
      <EmailInput className={styles.grow} {...form.text('email')} />
      <Button type="submit" busy={form.isPending}>
        Create link
      </Button>
    </Form>
  )
}
