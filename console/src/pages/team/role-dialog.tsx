import type { Member } from '@parley/contract/console/team'
import { useForm } from '../../lib/use-form.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/states.tsx'
import { RoleChoice } from './role-choice.tsx'
import { useChangeRole } from './team.queries.ts'

export function RoleDialog({
  member,
  isLastAdmin,
  onClose,
}: {
  member: Member
  isLastAdmin: boolean
  onClose: () => void
}) {
  const form = useForm({
    first: { role: member.role },
    action: useChangeRole(member),
    input: ({ role }) => role,
    onDone: onClose,
  })
  const isChanged = form.values.role !== member.role
  return (
    <FormDialog
      onClose={onClose}
      title={member.is_you ? 'Change your role' : `Change role of ${member.name}`}
      detail={<bdi>{member.email}</bdi>}
      form={form}
      submit="Change role"
      disabled={!isChanged}
    >
      {isLastAdmin && (
        <Notice>
          {member.is_you ? 'You are' : `${member.name} is`} the last admin. Make another member an admin first: a
          workspace needs at least one.
        </Notice>
      )}
      <RoleChoice {...form.field('role')} disabled={isLastAdmin ? ['developer', 'member'] : []} />
      {member.is_you && isChanged && (
        <Notice tone="warn">You cannot undo this yourself. Another admin has to restore your role.</Notice>
      )}
    </FormDialog>
  )
}
