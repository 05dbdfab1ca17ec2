import type { FileLoss } from '@parley/contract/flow-response'
import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

export const insertFiles = statement(
  {
    files: {
      id: 'uuid',
      workspaceId: 'uuid',
      responseId: 'uuid',
      index: 'smallint',
      senderId: 'uuid',
      field: 'text',
      fileName: 'text',
      mimeType: 'text',
      source: 'json',
    },
    now: 'timestamptz',
    tryUntil: 'timestamptz',
  },
  ({ files, now, tryUntil }) => `insert into flow_files (${files.columns}, due_at, try_until, created_at)
     select files.*, ${now}, ${tryUntil}, ${now} from ${files}`,
).change

interface FileColumns {
  id: string
  /** Set for files of forms. */
  response_id: string
  /** Set for files of inbound messages. */
  message_id: string
  index: number
  field: string
  file_name: string
  mime_type: string
  due_at: Date
  attempts: number
  last_error: string | null
}

/** The state decides which columns are set. */
export type FileRow = FileColumns &
  (
    | { state: 'waiting' | 'fetching' }
    | { state: 'gone'; why: FileLoss }
    | {
        state: 'fetched'
        content: string
        size: number
        chunk_bytes: number
        object_key: string | null
        content_type: string
        fetched_at: Date
      }
  )

/** Whether a fetched file was made to expire, by `expireFilesOf`. */
export const isRemoved = ({ fetched_at }: Extract<FileRow, { state: 'fetched' }>): boolean => fetched_at.getTime() === 0

export const columns = `id, response_id, message_id, index, field, file_name, mime_type, due_at, attempts, last_error, state, why, content,
  size, chunk_bytes, object_key, content_type, fetched_at`

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

/** Where the bytes of a file are. */
export interface Place {
  id: string
  content: string
  chunk_bytes: number
  /** The object with the bytes; null if they are in the chunks with the lease in `content`. */
  object_key: string | null
}

export const placeOf = (db: Db, workspaceId: string, id: string): Promise<Place | undefined> =>
  db.first(
    `select id, content, chunk_bytes, object_key from flow_files
     where workspace_id = $1 and id = $2 and state = 'fetched'`,
    [workspaceId, id],
  )
export const filesOfMessages = (db: Db, workspaceId: string, messageIds: readonly string[]): Promise<FileRow[]> =>
  db.rows(`select ${columns} from flow_files where workspace_id = $1 and message_id = any($2::uuid[])`, [
    workspaceId,
    messageIds,
  ])

const chunkReading = statement(
  { workspaceId: 'uuid', fileId: 'uuid', content: 'uuid', number: 'int', first: 'int', count: 'int' },
  ({ workspaceId, fileId, content, number, first, count }) =>
    `select encode(substring(bytes from ${first} + 1 for ${count}), 'base64') as bytes from file_chunks
     where workspace_id = ${workspaceId} and file_id = ${fileId} and lease = ${content} and number = ${number}`,
)

/** Part of a chunk. Read as base64, which is two thirds of the size of the hex format of bytea. */
export async function chunkPart(
  db: Db,
  workspaceId: string,
  { id, content }: { id: string; content: string },
  part: { number: number; first: number; count: number },
): Promise<Buffer> {
  const row = await chunkReading.first<{ bytes: string }>(db, { workspaceId, fileId: id, content, ...part })
  const bytes = Buffer.from(row?.bytes ?? '', 'base64')
  // The row may stay in memory until the next full garbage collection; its text (100 MB for a large file) must not.
  if (row) row.bytes = ''
  return bytes
}
