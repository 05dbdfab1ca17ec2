import type { MessageError } from '@parley/contract/events'
import type { InboundReferral, Unsupported } from '@parley/contract/inbound'
import type { TracedWebhook } from '../../telemetry/tracing.ts'
import { readNetworkError } from '../graph/network-error.ts'
import {
  type JsonObject,
  readArray,
  readId,
  readNonBlank,
  readObject,
  readPhone,
  readText,
  readTime,
} from '../read-json.ts'
import { type Content, readContent, readType } from './content.ts'
import { readSystemMessage, type UserIdChange } from './system.ts'
import type { WebhookSource } from './unread.ts'
import { isUserId } from './user-id.ts'

/** A message to one of our numbers. */
export interface InboundItem extends WebhookSource, Content {
  kind: 'message'
  waMessageId: string
  from: string | null
  fromUserId: string | null
  profileName: string | null
  /** Without `@`. */
  username: string | null
  /** The group that it was written in. Null for a private message. */
  groupId: string | null
  receivedAt: Date
  forwarded: boolean
  quotedWaMessageId: string | null
  /** The webhook that it came with, if that is traced. */
  webhook?: TracedWebhook
  referral: InboundReferral | null
  /** What WhatsApp says about content that it does not provide. Null for a reaction and for supported types. */
  unsupported: Unsupported | null
  /** Why WhatsApp could not provide the content. */
  error: MessageError | null
}

/** Null if it is no message of a person, or has no ID. */
export function readMessage(
  value: unknown,
  contacts: readonly JsonObject[],
  source: WebhookSource,
  now: Date,
): InboundItem | UserIdChange | null {
  const message = readObject(value)
  if (message === null) return null
  const type = readType(message)
  if (type === 'system') return readSystemMessage(message, source, now)
  if (type === 'request_welcome' || isLiveLocation(message, type)) return null
  const waMessageId = readId(message.id)
  if (waMessageId === null) return null
  const contact = contactOf(message, contacts)
  const profile = readObject(contact?.profile)
  const context = readObject(message.context)
  const error = readNetworkError(readArray(message.errors)[0])
  const content = readContent(message, type)
  return {
    kind: 'message',
    ...source,
    waMessageId,
    from: readPhone(message.from) ?? readPhone(contact?.wa_id),
    fromUserId: readId(message.from_user_id) ?? readId(contact?.user_id) ?? userIdIn(message.from),
    profileName: readNonBlank(profile?.name, 1024),
    username: readNonBlank(readText(profile?.username, 256)?.replace(/^@/, ''), 256),
    groupId: readId(message.group_id),
    receivedAt: readTime(message.timestamp) ?? now,
    forwarded: context?.forwarded === true || context?.frequently_forwarded === true,
    quotedWaMessageId: readId(context?.id),
    referral: readReferral(readObject(message.referral)),
    unsupported:
      content.type === 'unsupported' && content.reaction === null ? readUnsupported(message, type, error) : null,
    error,
    ...content,
  }
}

function readReferral(referral: JsonObject | null): InboundReferral | null {
  if (referral === null) return null
  return {
    source_type: readId(referral.source_type, 64),
    source_id: readId(referral.source_id),
    source_url: readNonBlank(referral.source_url, 4096),
    headline: readNonBlank(referral.headline, 4096),
    body: readNonBlank(referral.body, 65_536),
    ctwa_clid: readId(referral.ctwa_clid, 1024),
  }
}

function readUnsupported(message: JsonObject, type: string | null, error: MessageError | null): Unsupported {
  const named = type === 'unsupported' || type === 'unknown' ? null : type
  const inner = readObject(message.unsupported) ?? readObject(message.interactive)
  return {
    type: readId(inner?.type, 64) ?? named,
    code: typeof error?.code === 'number' ? error.code : null,
    title: error?.title ?? null,
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
