import type { Role } from '@parley/contract/console/permissions'
import type { CreatedLink } from '@parley/contract/console/team'
import { emailError } from '../../lib/email.ts'
import { useForm } from '../../lib/use-form.ts'
import { EmailInput } from '../../parts/email-input.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { RoleChoice } from './role-choice.tsx'
import { useInvite } from './team.queries.ts'

export interface CreatedInvite {
  email: string
  link: CreatedLink
}

export function InviteDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (created: CreatedInvite) => void
}) {
  const form = useForm({
    first: { email: '', role: 'developer' as Role },
    check: ({ email }) => ({ email: emailError(email) }),
    action: useInvite(),
    input: ({ email, role }) => ({ email: email.trim(), role }),
    onDone: (link, { email }) => onCreated({ email: email.trim(), link }),
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Invite a teammate"
      detail="Sends a link by email, or shows it to you if this installation sends no emails. Only an account with this email address can use it."
      form={form}
      submit="Create link"
    >
      <EmailInput {...form.text('email')} data-autofocus />
      <RoleChoice {...form.field('role')} />
    </FormDialog>
  )
}
