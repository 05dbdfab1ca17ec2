import type { FileLoss } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import type { FileSource } from '../../whatsapp/incoming-form.ts'

export interface NewFile {
  id: string
  workspaceId: string
  responseId: string
  index: number
  senderId: string
  field: string
  fileName: string
  mimeType: string
  source: FileSource
}

export const insertFiles = (db: Db, files: readonly NewFile[], now: Date, tryUntil: Date): Promise<number> =>
  db.change(
    `insert into flow_files (id, workspace_id, response_id, index, sender_id, field, file_name, mime_type, source, due_at,
       try_until, created_at)
     select n.id, n.workspace_id, n.response_id, n.index, n.sender_id, n.field, n.file_name, n.mime_type, n.source, $10,
       $11, $10
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::uuid[], $6::text[], $7::text[], $8::text[],
       $9::json[]) as n(id, workspace_id, response_id, index, sender_id, field, file_name, mime_type, source)`,
    [
      files.map((file) => file.id),
      files.map((file) => file.workspaceId),
      files.map((file) => file.responseId),
      files.map((file) => file.index),
      files.map((file) => file.senderId),
      files.map((file) => file.field),
      files.map((file) => file.fileName),
      files.map((file) => file.mimeType),
      files.map((file) => JSON.stringify(file.source)),
      now,
      tryUntil,
    ],
  )

interface StoredFile {
  id: string
  response_id: string
  index: number
  field: string
  file_name: string
  mime_type: string
  due_at: Date
  attempts: number
  last_error: string | null
}

/** A file as it stands; which members are set depends on the state. */
export type FileRow = StoredFile &
  (
    | { state: 'waiting' | 'fetching' }
    | { state: 'gone'; why: FileLoss }
    | {
        state: 'fetched'
        content: string
        size: number
        chunk_bytes: number
        content_type: string
        fetched_at: Date
      }
  )

const columns = `id, response_id, index, field, file_name, mime_type, due_at, attempts, last_error, state, why, content,
  size, chunk_bytes, content_type, fetched_at`

export const filesOf = (db: Db, workspaceId: string, responseIds: readonly string[]): Promise<FileRow[]> =>
  db.rows(
    `select ${columns} from flow_files where workspace_id = $1 and response_id = any($2::uuid[])
     order by response_id, index`,
    [workspaceId, responseIds],
  )

export const fileAt = (db: Db, workspaceId: string, responseId: string, index: number): Promise<FileRow | undefined> =>
  db.first(`select ${columns} from flow_files where workspace_id = $1 and response_id = $2 and index = $3`, [
    workspaceId,
    responseId,
    index,
  ])

/** Some bytes of a chunk, as base64: two thirds of the hex that bytea is otherwise written in. */
export async function chunkPart(
  db: Db,
  workspaceId: string,
  file: { id: string; content: string },
  { number, first, count }: { number: number; first: number; count: number },
): Promise<Buffer> {
  const row = await db.first<{ bytes: string }>(
    `select encode(substring(bytes from $5 for $6), 'base64') as bytes from file_chunks
     where workspace_id = $1 and file_id = $2 and lease = $3 and number = $4`,
    [workspaceId, file.id, file.content, number, first + 1, count],
  )
  const bytes = Buffer.from(row?.bytes ?? '', 'base64')
  // The row may outlive its use until the next full collection; a hundred megabytes of text must not do so with it.
  if (row) row.bytes = ''
  return bytes
}
