import { type JsonObject, readId, readObject, readPhone, readTime } from '../read-json.ts'
import type { WebhookSource } from './unread.ts'

/** WhatsApp replaced the user ID of a person. */
export interface UserIdChange extends WebhookSource {
  kind: 'user_id_change'
  oldUserId: string
  newUserId: string
  /** The person changed their phone number too. */
  changedNumber: boolean
  /** The new number, if WhatsApp reported it. */
  number: string | null
  changedAt: Date
}

/** A system message. It is no message of a person; only a change of the user ID is read. */
export function readSystemMessage(message: JsonObject, source: WebhookSource, now: Date): UserIdChange | null {
  const system = readObject(message.system)
  const type = readId(system?.type, 64)
  const oldUserId = readId(system?.previous_user_id)
  const newUserId = readId(system?.user_id)
  if (oldUserId === null || newUserId === null || oldUserId === newUserId) return null
  const number = readPhone(system?.wa_id)
  return {
    kind: 'user_id_change',
    ...source,
    oldUserId,
    newUserId,
    changedNumber: type !== 'user_changed_user_id',
    number,
    changedAt: readTime(message.timestamp) ?? now,
  }
}
