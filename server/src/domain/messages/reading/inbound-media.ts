import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withoutPrefix } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import { openReceivedFile, type StoredFile } from '../../files/read.ts'

/** The file of an inbound message. Refuses if it has none, or if it is not available now or any more. */
export async function openInboundMedia(db: Db, clock: Clock, workspaceId: string, id: string): Promise<StoredFile> {
  const messageId = withoutPrefix('msg', id) ?? refuse('not_found')
  return (await openReceivedFile(db, clock, workspaceId, messageId)) ?? refuse('not_found')
}
