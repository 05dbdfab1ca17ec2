import type { FileState } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { wakeAnywhere } from '../../db/wake.ts'
import { newUuid } from '../../lib/ids.ts'
import { type FormFile, toSource } from '../../whatsapp/incoming/form.ts'
import { type FileRow, filesOf, filesOfMessages, insertFiles, isRemoved } from './files.sql.ts'

/** How long the network keeps an uploaded file. */
export const networkRetentionMs = 7 * 86_400_000

export interface FormFiles {
  workspaceId: string
  responseId: string
  senderId: string
  files: readonly FormFile[]
}

/** Stores the files of submitted forms as due. Fetching starts when the transaction commits. */
export async function saveFormFiles(db: Db, now: Date, forms: readonly FormFiles[]): Promise<void> {
  const files = forms.flatMap(({ files: ofForm, ...owner }) =>
    ofForm.map((file) => ({
      ...owner,
      id: newUuid(now.getTime()),
      index: file.index,
      field: file.field,
      fileName: file.file_name,
      mimeType: file.mime_type,
      source: toSource(file),
    })),
  )
  if (files.length === 0) return
  await insertFiles(db, { files, now, tryUntil: new Date(now.getTime() + networkRetentionMs) })
  wakeAnywhere(db, 'fetch files')
}

/** A file of a form, with the state of its download. */
export interface ListedFile {
  field: string
  index: number
  file_name: string
  mime_type: string
  state: FileState
}

/** The files of submitted forms, by form. */
export async function filesByResponse(
  db: Db,
  workspaceId: string,
  responseIds: readonly string[],
): Promise<Map<string, ListedFile[]>> {
  const rows = responseIds.length === 0 ? [] : await filesOf(db, workspaceId, responseIds)
  const byResponse = Map.groupBy(rows, (row) => row.response_id)
  return new Map([...byResponse].map(([id, group]) => [id, group.map(toListed)]))
}

/** The download states of the files of inbound messages, by message. */
export async function fileStatesOf(
  db: Db,
  workspaceId: string,
  messageIds: readonly string[],
): Promise<Map<string, FileState>> {
  const rows = messageIds.length === 0 ? [] : await filesOfMessages(db, workspaceId, messageIds)
  return new Map(rows.map((row) => [row.message_id, stateOf(row)]))
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
    case 'fetched': {
      // It was removed, and its bytes are deleted soon.
      if (isRemoved(row)) return { kind: 'gone', why: 'retention' }
      const { size, content_type, fetched_at } = row
      return { kind: 'fetched', size, content_type, fetched_at: fetched_at.toISOString() }
    }
    case 'gone':
      return { kind: 'gone', why: row.why }
    default: {
      const { attempts, last_error } = row
      return { kind: 'waiting', next_try_at: row.due_at.toISOString(), attempts, last_error }
    }
  }
}
