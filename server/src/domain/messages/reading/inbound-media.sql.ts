import type { Db } from '../../../db/db.ts'
import type { MediaFile } from '../../../whatsapp/incoming-content.ts'

export interface InboundMediaRow {
  sender_id: string
  type: string
  recorded_at: Date
  /** Null if the message has no file. */
  media: MediaFile | null
}

export const inboundMediaOf = (db: Db, workspaceId: string, id: string): Promise<InboundMediaRow | undefined> =>
  db.first(
    `select sender_id, type, recorded_at, content -> 'media' as media
     from inbound_messages where workspace_id = $1 and id = $2`,
    [workspaceId, id],
  )
