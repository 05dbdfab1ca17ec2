import type { EventType } from '@parley/contract/events'
import type { Db } from '../../db/db.ts'
import { newUuid } from '../../lib/ids.ts'
import { insertEvents } from './deliveries.sql.ts'

/** Something that happened, not yet told to anybody. */
export interface NewEvent {
  workspaceId: string
  type: EventType
  data: object
}

/**
 * Publishes events: call it with the transaction that records what they tell, so that both are kept or neither. The body
 * is made here, once, as the bytes that every attempt signs and sends.
 */
export async function publish(db: Db, now: Date, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  await insertEvents(
    db,
    events.map(({ workspaceId, type, data }) => {
      const id = newUuid(now.getTime())
      const body = Buffer.from(JSON.stringify({ id, type, created_at: now.toISOString(), data }))
      return { id, workspaceId, type, body, createdAt: now }
    }),
  )
}
