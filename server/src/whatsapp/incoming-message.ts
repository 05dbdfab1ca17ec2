import type { MessageError } from '@parley/contract/events'
import { type Ignored, ignored, type WebhookSource } from './ignored.ts'
import { type Content, readContent } from './incoming-content.ts'
import { readSystemMessage, type UserIdChange } from './incoming-system.ts'
import { readNetworkError } from './network-error.ts'
import { type JsonObject, readArray, readId, readNonBlank, readObject, readPhone, readTime } from './read-json.ts'
import { isUserId } from './user-id.ts'

/** A message to one of our numbers. */
export interface InboundItem extends WebhookSource, Content {
  kind: 'message'
  waMessageId: string
  from: string | null
  fromUserId: string | null
  profileName: string | null
  groupId: string | null
  receivedAt: Date
  quotedWaMessageId: string | null
  /** Why WhatsApp could not provide the content. */
  error: MessageError | null
}

export function readMessage(
  value: unknown,
  contacts: readonly JsonObject[],
  source: WebhookSource,
  now: Date,
): InboundItem | UserIdChange | Ignored {
  const message = readObject(value)
  if (message === null) return ignored('malformed', source, 'messages')
  const type = readId(message.type, 64)
  if (type === 'system') return readSystemMessage(message, source, now)
  if (type === 'request_welcome') return ignored('request_welcome', source)
  if (isLiveLocation(message, type)) return ignored('live_location', source, type)
  const waMessageId = readId(message.id)
  if (waMessageId === null) return ignored('no_message_id', source, type)
  const contact = contactOf(message, contacts)
  return {
    kind: 'message',
    ...source,
    waMessageId,
    from: readPhone(message.from) ?? readPhone(contact?.wa_id),
    fromUserId: readId(message.from_user_id) ?? readId(contact?.user_id) ?? userIdIn(message.from),
    profileName: readNonBlank(readObject(contact?.profile)?.name, 1024),
    groupId: readId(message.group_id),
    receivedAt: readTime(message.timestamp) ?? now,
    quotedWaMessageId: readId(readObject(message.context)?.id),
    error: readNetworkError(readArray(message.errors)[0]),
    ...readContent(message, type),
  }
}

/** Matched by user ID or number, never by position. If there is only one contact, it is used. */
function contactOf(message: JsonObject, contacts: readonly JsonObject[]): JsonObject | null {
  const userId = readId(message.from_user_id)
  const from = readId(message.from)
  const match =
    (userId !== null && contacts.find((contact) => contact.user_id === userId)) ||
    (from !== null && contacts.find((contact) => contact.wa_id === from || contact.user_id === from))
  return match || (contacts.length === 1 ? (contacts[0] ?? null) : null)
}

function userIdIn(from: unknown): string | null {
  return typeof from === 'string' && isUserId(from) ? from : null
}

/**
 * WhatsApp does not forward live locations, only a placeholder of the type `unsupported`. A location that was picked or
 * shared once has the type `location`, so an unsupported location is a live one.
 */
function isLiveLocation(message: JsonObject, type: string | null): boolean {
  if (type === 'live_location') return true
  if (type === 'location') {
    const location = readObject(message.location)
    return location?.live === true || location?.is_live === true || location?.live_period !== undefined
  }
  if (type !== 'unsupported' && type !== 'unknown') return false
  const inner = readObject(message.unsupported)
  return [inner?.type, inner?.raw_type].some((kind) => kind === 'live_location' || kind === 'location')
}
