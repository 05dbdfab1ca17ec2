import type { FileState } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { wakeHere } from '../../db/wake.ts'
import { newUuid } from '../../lib/ids.ts'
import { type FormFile, toSource } from '../../whatsapp/incoming-form.ts'
import { type FileRow, filesOf, insertFiles, type NewFile } from './files.sql.ts'

/** How long the network keeps what somebody uploaded. */
export const atNetworkMs = 7 * 86_400_000

export interface ExpectedFile {
  workspaceId: string
  responseId: string
  senderId: string
  files: readonly FormFile[]
}

/** Remembers the files of submitted forms; they are fetched as soon as this is committed. */
export async function expectFiles(db: Db, now: Date, forms: readonly ExpectedFile[]): Promise<void> {
  const files = forms.flatMap(({ files: own, ...owner }) => own.map((file) => toNewFile(owner, file, now)))
  if (files.length === 0) return
  await insertFiles(db, files, now, new Date(now.getTime() + atNetworkMs))
  wakeHere(db, 'fetch files')
}

function toNewFile(owner: Omit<ExpectedFile, 'files'>, file: FormFile, now: Date): NewFile {
  return {
    ...owner,
    id: newUuid(now.getTime()),
    index: file.index,
    field: file.field,
    fileName: file.file_name,
    mimeType: file.mime_type,
    source: toSource(file),
  }
}

/** A file of a form as it is listed, and how it stands with its contents. */
export interface ListedFile {
  field: string
  index: number
  file_name: string
  mime_type: string
  state: FileState
}

/** The files of submitted forms, by the form. */
export async function filesByResponse(
  db: Db,
  workspaceId: string,
  responseIds: readonly string[],
): Promise<Map<string, ListedFile[]>> {
  const rows = responseIds.length === 0 ? [] : await filesOf(db, workspaceId, responseIds)
  const byResponse = Map.groupBy(rows, (row) => row.response_id)
  return new Map([...byResponse].map(([id, own]) => [id, own.map(toListed)]))
}

const toListed = (row: FileRow): ListedFile => ({
  field: row.field,
  index: row.index,
  file_name: row.file_name,
  mime_type: row.mime_type,
  state: stateOf(row),
})

function stateOf(row: FileRow): FileState {
  switch (row.state) {
    case 'fetched':
      return {
        kind: 'fetched',
        size: row.size,
        content_type: row.content_type,
        fetched_at: row.fetched_at.toISOString(),
      }
    case 'gone':
      return { kind: 'gone', why: row.why }
    default: {
      const { attempts, last_error } = row
      return { kind: 'waiting', next_try_at: row.due_at.toISOString(), attempts, last_error }
    }
  }
}
