import type { MessageError } from '@parley/contract/events'
import type { InboundReferral, ReferredProduct, Unsupported } from '@parley/contract/inbound'
import type { TracedWebhook } from '../../telemetry/tracing.ts'
import { readNetworkError } from '../graph/network-error.ts'
import {
  cleanJson,
  type JsonObject,
  readArray,
  readId,
  readNonBlank,
  readObject,
  readPhone,
  readText,
  readTime,
} from '../read-json.ts'
import { type Content, changedMessageOf, readContent, readType } from './content.ts'
import { id, readMembers, text } from './known.ts'
import { readSystemMessage, type UserIdChange } from './system.ts'
import type { WebhookSource } from './unread.ts'
import { isUserId } from './user-id.ts'

/** A message to one of our numbers. */
export interface InboundItem extends WebhookSource, Content {
  kind: 'message'
  waMessageId: string
  from: string | null
  fromUserId: string | null
  fromParentUserId: string | null
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
  referredProduct: ReferredProduct | null
  /** What WhatsApp says about content that it does not provide. Null for a reaction and for supported types. */
  unsupported: Unsupported | null
  /** Why WhatsApp could not provide the content. */
  error: MessageError | null
  /** Another app or an agent handles the conversation. */
  standby: boolean
}

/** Null if it is no message of a person, or has no ID. */
export function readMessage(
  value: unknown,
  contactOf: FindContact,
  source: WebhookSource,
  now: Date,
  standby = false,
): InboundItem | UserIdChange | null {
  const message = readObject(value)
  if (message === null) return null
  const type = readType(message)
  if (type === 'system') return readSystemMessage(message, source, now)
  if (isLiveLocation(message, type)) return null
  const waMessageId = readId(message.id)
  if (waMessageId === null) return null
  const contact = contactOf(message)
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
    fromParentUserId: readId(message.from_parent_user_id) ?? readId(contact?.parent_user_id),
    profileName: readNonBlank(profile?.name, 1024),
    username: readNonBlank(readText(profile?.username, 256)?.replace(/^@/, ''), 256),
    groupId: readId(message.group_id),
    receivedAt: readTime(message.timestamp) ?? now,
    forwarded: context?.forwarded === true || context?.frequently_forwarded === true,
    // An edit replies to nothing: its context is that of the edited message.
    quotedWaMessageId: changedMessageOf(content) === null ? readId(context?.id) : null,
    referral: readReferral(readObject(message.referral)),
    referredProduct: readProduct(readObject(context?.referred_product)),
    unsupported:
      content.type === 'unsupported' && content.reaction === null ? readUnsupported(message, type, error) : null,
    error,
    standby,
    ...content,
  }
}

const short = id(64)
/** The advertisement that a message came from. */
export const referral = {
  source_type: short,
  source_id: id(),
  source_url: text(4096),
  headline: text(4096),
  body: text(65_536),
  ctwa_clid: id(1024),
  media_type: short,
  image_url: text(4096),
  video_url: text(4096),
  thumbnail_url: text(4096),
  ref: text(4096),
}
export const welcome = { text: text(65_536) }
export const product = { catalog_id: id(), product_retailer_id: id() }

function readReferral(value: JsonObject | null): InboundReferral | null {
  const message = readObject(value?.welcome_message)
  return value && { ...readMembers(value, referral), welcome_message: message && readMembers(message, welcome) }
}

const readProduct = (value: JsonObject | null): ReferredProduct | null => value && readMembers(value, product)

function readUnsupported(message: JsonObject, type: string | null, error: MessageError | null): Unsupported {
  const named = type === 'unsupported' || type === 'unknown' ? null : type
  const inner = readObject(message.unsupported) ?? readObject(message.interactive)
  return {
    type: readId(inner?.type, 64) ?? named,
    code: typeof error?.code === 'number' ? error.code : null,
    title: error?.title ?? null,
    content: contentOf(message, type),
  }
}

/** WhatsApp's object of a type that this service does not have. That of an interactive message is named by its inner type. */
function contentOf(message: JsonObject, type: string | null): Unsupported['content'] {
  if (type === null || type === 'unsupported') return null
  const outer = readObject(message[type])
  const inner = type === 'interactive' ? readObject(outer?.[String(outer.type)]) : null
  return readObject(cleanJson(inner ?? outer)) as Unsupported['content']
}

/** The contact of the person who wrote a message. */
export type FindContact = (message: JsonObject) => JsonObject | null

/**
 * Matched by user ID or number, never by position. The only contact needs no match if all messages are of one person:
 * `from` and `wa_id` may differ in the digits of one number, for example in Brazil.
 */
export function contactsIn(value: JsonObject): FindContact {
  const contacts = readArray(value.contacts)
    .map(readObject)
    .filter((contact) => contact !== null)
  const [first] = contacts
  if (first === undefined || (contacts.length === 1 && isOfOnePerson(value))) return () => first ?? null
  const byUserId = new Map<unknown, JsonObject>()
  const byNumber = new Map<unknown, JsonObject>()
  // Of several with one ID, the first counts.
  for (const contact of contacts.toReversed()) {
    if (contact.user_id != null) byUserId.set(contact.user_id, contact)
    if (contact.wa_id != null) byNumber.set(contact.wa_id, contact)
  }
  return ({ from_user_id, from }) => {
    const [userId, number] = [readId(from_user_id), readId(from)]
    return byUserId.get(userId) ?? byNumber.get(number) ?? byUserId.get(number) ?? null
  }
}

function isOfOnePerson({ messages, message_echoes, history }: JsonObject): boolean {
  const threads = readArray(history).flatMap((chunk) => readArray(readObject(chunk)?.threads))
  const people = [...readArray(messages), ...readArray(message_echoes)].map((each) => {
    const { message: request, ...outer } = readObject(each) ?? {}
    // A message of the business has a recipient.
    const { to, to_user_id, from, from_user_id }: JsonObject = { ...outer, ...readObject(request) }
    const [number, userId] = to == null && to_user_id == null ? [from, from_user_id] : [to, to_user_id]
    return `${readId(number)} ${readId(userId)}`
  })
  return new Set([...people, ...threads.map((thread) => `${readId(readObject(thread)?.id)} null`)]).size < 2
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
