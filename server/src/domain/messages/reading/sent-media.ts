/** The uploaded files of sent messages. What was sent by link is not stored. */
import type { FileState } from '@parley/contract/flow-response'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { uploadStatesOf } from '../../files/files.ts'
import { openUpload, type StoredFile } from '../../files/read.ts'
import { uploadsIn } from './sent-media.sql.ts'

/** The states of the files, by message. */
export async function sentFileStatesOf(
  db: Db,
  workspaceId: string,
  messageIds: readonly string[],
): Promise<Map<string, FileState>> {
  const rows = messageIds.length === 0 ? [] : await uploadsIn(db, workspaceId, messageIds)
  const states = await uploadStatesOf(db, workspaceId, [...new Set(rows.map(({ upload }) => upload))])
  return new Map(
    rows.flatMap(({ id, upload }) => {
      const state = states.get(upload)
      return state ? [[id, state]] : []
    }),
  )
}

/** The file of a sent message. Null if it has none that is stored. */
export async function openSentMedia(
  db: Db,
  clock: Clock,
  workspaceId: string,
  messageId: string,
): Promise<StoredFile | null> {
  const [found] = await uploadsIn(db, workspaceId, [messageId])
  return found ? openUpload(db, clock, workspaceId, found.upload) : null
}
