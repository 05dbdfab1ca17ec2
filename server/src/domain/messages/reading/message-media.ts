import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { withoutPrefix } from '../../../lib/ids.ts'
import { refuse } from '../../../lib/refuse.ts'
import type { StoredFile } from '../../files/read.ts'
import { openInboundMedia } from './inbound-media.ts'
import { openSentMedia } from './sent-media.ts'

/** The file of a sent or received message, for the console. */
export async function openMessageMedia(db: Db, clock: Clock, workspaceId: string, id: string): Promise<StoredFile> {
  const messageId = withoutPrefix('msg', id) ?? refuse('not_found')
  return (await openSentMedia(db, clock, workspaceId, messageId)) ?? openInboundMedia(db, clock, workspaceId, id)
}
