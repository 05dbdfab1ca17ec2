import { useForm } from '../../lib/use-form.ts'
import { FormDialog, TypedName } from '../../ui/dialog.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { type OperatedWorkspace, useSuspend } from './workspaces.queries.ts'

export function SuspendDialog({ workspace, onClose }: { workspace: OperatedWorkspace; onClose: () => void }) {
  const form = useForm({
    first: { reason: '', typed: '' },
    action: useSuspend(workspace),
    input: ({ reason }) => reason.trim(),
    onDone: onClose,
  })
  const { reason, typed } = form.values
  return (
    <FormDialog
      onClose={onClose}
      title={`Suspend ${workspace.name}?`}
      detail="API keys stop working immediately and no messages are sent. Incoming messages are still stored. Nothing is deleted."
      form={form}
      submit="Suspend workspace"
      danger
      disabled={reason.trim() === '' || typed.trim() !== workspace.name.trim()}
    >
      <TextInput
        label="Reason"
        description="Shown to the team on every page."
        placeholder="Invoice 2026-104 is unpaid. Contact billing@example.com."
        maxLength={300}
        {...form.text('reason')}
        data-autofocus
      />
      <TypedName name={workspace.name} {...form.text('typed')} />
    </FormDialog>
  )
}
