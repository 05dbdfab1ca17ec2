import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withoutPrefix } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import { openReceivedFile, type StoredFile } from '../../files/read.ts'
import { openUnstoredFile } from '../../files/received.ts'
import { inboundMediaOf } from './inbound-media.sql.ts'

/** The file of an inbound message. Refuses if it has none, or if it is not available now or any more. */
export async function openInboundMedia(db: Db, clock: Clock, workspaceId: string, id: string): Promise<StoredFile> {
  const messageId = withoutPrefix('msg', id) ?? refuse('not_found')
  const stored = await openReceivedFile(db, clock, workspaceId, messageId)
  if (stored) return stored
  const message = await inboundMediaOf(db, workspaceId, messageId)
  if (!message?.media) return refuse('not_found')
  const { sender_id: senderId, type, media, recorded_at: recordedAt } = message
  return openUnstoredFile(db, clock, { workspaceId, messageId, senderId, type, media, recordedAt })
}
