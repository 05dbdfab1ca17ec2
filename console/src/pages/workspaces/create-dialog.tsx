import { useSearchParams } from '../../lib/url.ts'
import { useForm } from '../../lib/use-form.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { useCreateWorkspace } from './workspaces.queries.ts'

export function CreateDialog({ onClose }: { onClose: () => void }) {
  const [, change] = useSearchParams()
  const form = useForm({
    first: { name: '' },
    check: ({ name }) => ({ name: name.trim() ? undefined : 'Enter a name.' }),
    action: useCreateWorkspace(),
    input: ({ name }) => name.trim(),
    onDone: ({ id }) => {
      onClose()
      change({ tab: null, open: id }, { push: true })
    },
  })
  return (
    <FormDialog
      onClose={onClose}
      size="s"
      title="Create workspace"
      detail="A new workspace has no members, credits or senders."
      form={form}
      submit="Create workspace"
    >
      <TextInput label="Name" placeholder="Acme" autoComplete="off" {...form.text('name')} data-autofocus />
    </FormDialog>
  )
}
