/** The files of inbound messages. They are stored with their message and fetched in the background. */
import type { Db } from '../../db/db.ts'
import { wakeAnywhere } from '../../db/wake.ts'
import { newUuid } from '../../lib/ids.ts'
import { extensionOf } from './file-types.ts'
import { networkRetentionMs } from './files.ts'
import type { ReceivedFileRow } from './received.sql.ts'

export {
  hasReceivedFileSql,
  insertReceivedFilesSql,
  type ReceivedFileRow,
  receivedFileColumns,
} from './received.sql.ts'

/** An inbound message with a file, and what the network said about the file. */
export interface MessageWithFile {
  workspaceId: string
  messageId: string
  senderId: string
  /** Such as `image`. */
  type: string
  media: { id: string; mime_type: string; filename: string | null; sha256?: string | null }
}

export const toReceivedFile = (
  { workspaceId, messageId, senderId, type, media }: MessageWithFile,
  now: Date,
): ReceivedFileRow => ({
  id: newUuid(now.getTime()),
  workspaceId,
  messageId,
  senderId,
  fileName: media.filename ?? type + extensionOf(media.mime_type),
  mimeType: media.mime_type,
  source: { media_id: media.id, sha256: media.sha256 ?? null, sealed: null },
})

/** Until when the network has a file that a message of now names. */
export const fetchableUntil = (now: Date): Date => new Date(now.getTime() + networkRetentionMs)

/** After the commit, starts fetching. */
export const wakeFetching = (db: Db): void => wakeAnywhere(db, 'fetch files')
