import type { ConsoleKey, CreatedKey } from '@parley/contract/console/keys'
import { useForm } from '../../lib/use-form.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { KeyFields } from './key-fields.tsx'
import { draftOf, emptyDraft, errorsIn, type KeyDraft, rulesOf } from './key-form.ts'
import { useChangeKey, useCreateKey } from './keys.queries.ts'
import { rangeProblem } from './ranges.ts'

export function CreateKeyDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (created: CreatedKey) => void
}) {
  const form = useForm({
    first: emptyDraft,
    check: errorsIn,
    action: useCreateKey(),
    input: rulesOf,
    onDone: onCreated,
  })
  return (
    <FormDialog onClose={onClose} title="Create key" form={form} submit="Create key">
      <KeyFields form={form} />
    </FormDialog>
  )
}

/** Edits a key. `adding` is an IP range or scope to add, prefilled by a link from the API errors page. */
export function EditKeyDialog({
  apiKey,
  adding = {},
  onClose,
}: {
  apiKey: ConsoleKey
  adding?: { range?: string; scope?: string }
  onClose: () => void
}) {
  const form = useForm({
    first: withAdded(draftOf(apiKey), adding),
    check: errorsIn,
    action: useChangeKey(apiKey.id),
    input: rulesOf,
    onDone: onClose,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Edit key"
      detail="Changes take effect immediately."
      form={form}
      submit="Save changes"
    >
      <KeyFields form={form} expiresAt={apiKey.expires_at} />
    </FormDialog>
  )
}

function withAdded(draft: KeyDraft, { range, scope }: { range?: string; scope?: string }): KeyDraft {
  const { ip_allow_list, scopes } = draft
  return {
    ...draft,
    ip_allow_list: range && !rangeProblem(range) ? [...new Set([...ip_allow_list, range])] : ip_allow_list,
    scopes: scope ? [...new Set([...scopes, scope])] : scopes,
  }
}
