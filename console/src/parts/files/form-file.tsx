import type { ConsoleForm } from '@parley/contract/console/forms'
import { useHere } from '../../lib/session.ts'
import { StoredFile } from './stored-file.tsx'

/** A file that was uploaded with a form. */
export function FormFile({ formId, file }: { formId: string; file: ConsoleForm['files'][number] }) {
  const here = useHere()
  const path = here.api(`forms/${formId}/files/${file.index}`)
  return (
    <StoredFile
      state={file.state}
      shows={`${path}/media`}
      downloads={path}
      alt={`Upload for ${file.field}: ${file.file_name}`}
      name={file.file_name}
      isNamed
    />
  )
}
