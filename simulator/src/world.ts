import type { Json } from './json.ts'
import type { Switches } from './switches.ts'

/** The whole state of the simulated network: plain values in maps, so that it can be saved as JSON. */
export interface World {
  apps: Map<string, App>
  wabas: Map<string, Waba>
  numbers: Map<string, PhoneNumber>
  tokens: Map<string, AccessToken>
  templates: Map<string, Template>
  flows: Map<string, Flow>
  catalogs: Map<string, Catalog>
  media: Map<string, Media>
  phones: Map<string, Phone>
  messages: Map<string, Message>
  /** When a phone last wrote to a number, by `conversationKey`. */
  lastInbound: Map<string, string>
  /** The free service messages that a number has used, and in which month (`2026-10`), by number ID. */
  freeService: Map<string, { month: string; used: number }>
  switches: Partial<Switches>
  /** The results of the next reviews of templates, in place of what the content leads to. */
  nextReviews: Review[]
}

/** A Meta app. The secret signs its webhooks; the verify token is used in the callback handshake. */
export interface App {
  id: string
  name: string
  secret: string
  verifyToken: string
  callbackUrl: string | null
  /** The webhook fields that it is subscribed to. Absent: every field, also those of later versions. */
  fields?: string[]
}

export interface Callback {
  url: string
  verifyToken: string
}

export interface Waba {
  id: string
  name: string
  currency: string
  timezoneId: string
  /** Subscribed apps, each with an optional callback for this account only. */
  subscriptions: Record<string, { override: Callback | null }>
}

export interface PhoneNumber {
  id: string
  wabaId: string
  /** Digits only, as in webhooks. */
  phoneNumber: string
  verifiedName: string
  qualityRating: string
  status: string
  codeVerificationStatus: string
  nameStatus: string
  accountMode: string
  messagingLimit: string
  isOfficialBusinessAccount: boolean
  /**
   * Also used in the WhatsApp Business app: at most 20 messages a second. Edits and deletions then arrive as `edit` and
   * `revoke`.
   */
  isOnBizApp: boolean
  pin: string | null
  onboardedAt: string
  throughputMps: number
  /** A test number may only send to these; null means anyone. */
  allowedRecipients: string[] | null
  override: Callback | null
  switches: Partial<Switches>
  /** The display name that WhatsApp reviews, and how far it is. */
  newDisplayName?: string
  newNameStatus?: string
  /** The business profile, in the names of the Graph API. */
  profile?: Json
  /** Whether a verification code was requested. */
  codeRequested?: boolean
  /** When `register` and `deregister` were called in the last 72 hours, and when the number was deregistered. */
  registrationCalls?: string[]
  deregisteredAt?: string
}

/** The messages that a number can send in a second. */
export const throughputOf = ({ isOnBizApp, throughputMps }: PhoneNumber): number =>
  isOnBizApp ? Math.min(20, throughputMps) : throughputMps

export interface AccessToken {
  token: string
  appId: string
  /** Accounts the token can access; null means all. */
  wabaIds: string[] | null
  expiresAt: string | null
  revoked: boolean
  /** The permissions that were granted. Absent: all. */
  scopes?: string[]
  /** The app's own token, `APP_ID|APP_SECRET`. It is not stored. */
  isApp?: true
}

export interface Template {
  id: string
  wabaId: string
  name: string
  language: string
  category: string
  status: string
  parameterFormat: 'POSITIONAL' | 'NAMED'
  /** WhatsApp's kind of template, such as `ORDER_STATUS`. */
  subCategory?: string
  components: Json[]
  rejectedReason: string
  qualityScore: string
  createdAt: string
  /** When it was edited while it was approved. */
  edits?: string[]
}

/** The result of a review, with the words of `rejection_info`. */
export interface Review {
  status: string
  reason: string
  rejection?: { reason: string; recommendation: string }
}

export interface Flow {
  id: string
  wabaId: string
  name: string
  status: string
  categories: string[]
  json: Json
  updatedAt: string
}

export interface Catalog {
  id: string
  wabaId: string
  name: string
  products: Product[]
}

interface Product {
  retailerId: string
  name: string
  price: number
  currency: string
}

/** Metadata of a file; the media store has the bytes. */
export interface Media {
  id: string
  wabaId: string
  numberId: string
  mimeType: string
  sha256: string
  size: number
  filename: string | null
  expiresAt: string
}

/** A simulated phone, identified by its number. */
export interface Phone {
  waId: string
  name: string
  userId: string
  /** The user ID in the parent portfolio, for businesses that are enrolled in it. */
  parentUserId?: string | null
  username: string | null
  online: boolean
  readReceipts: boolean
  /** false: the number is not on WhatsApp, so messages to it fail. */
  onWhatsApp: boolean
  /** false: the person opted out of marketing messages. */
  acceptsMarketing: boolean
  /** The IDs of the business numbers whose conversation with this phone an agent handles. */
  withAgent?: string[]
  switches: Partial<Switches>
}

/** A message between a phone and a business number. An edit and a deletion are messages too. */
export interface Message {
  id: string
  direction: 'in' | 'out'
  numberId: string
  waId: string
  type: string
  /** The object under the type's name, as it was sent. */
  content: unknown
  at: string
  contextId: string | null
  /** Only on messages from a business, except those written in the Business app. */
  journey: Lifecycle | null
  /** Only on messages that the business did not send through the API. */
  source?: 'business_app' | 'agent'
  /** The earlier contents of an edited message, oldest first, and when each was replaced. */
  edits?: { content: unknown; at: string }[]
  deletedAt?: string
  /** The ID of the message that this message edits or deletes. */
  amends?: string
  /** Only on messages from a phone. `taken`: the app accepted the webhook; `seen`: the business marked it as read. */
  receipt?: 'taken' | 'seen'
}

/** These field names, and `journey`, are part of the control API and the state file. */
export interface Lifecycle {
  state: 'accepted' | 'sent' | 'delivered' | 'read' | 'played' | 'failed'
  fate: MessageOutcome
  opaque: string | null
  /** True when the business addressed the user ID instead of the number. */
  toUserId: boolean
  category: string
  /** Decided when it is sent: only the first service messages of a month are free. */
  free: boolean
  history: { status: string; at: string; code?: number }[]
}

export type MessageOutcome =
  | { kind: 'deliver'; never?: 'delivered' | 'read'; skipDelivered?: boolean }
  | { kind: 'fail'; code: number; afterSent: boolean }

export function emptyWorld(): World {
  return {
    apps: new Map(),
    wabas: new Map(),
    numbers: new Map(),
    tokens: new Map(),
    templates: new Map(),
    flows: new Map(),
    catalogs: new Map(),
    media: new Map(),
    phones: new Map(),
    messages: new Map(),
    lastInbound: new Map(),
    freeService: new Map(),
    switches: {},
    nextReviews: [],
  }
}

export function conversationKey(numberId: string, waId: string): string {
  return `${numberId} ${waId}`
}

const maxMessages = 50_000

/** Stores a message and drops the oldest one above the limit. */
export function storeMessage(world: World, message: Message): void {
  world.messages.set(message.id, message)
  if (world.messages.size > maxMessages) {
    const [oldest] = world.messages.keys()
    if (oldest !== undefined) world.messages.delete(oldest)
  }
}

/** Finds a business number by ID or by phone number, with or without a plus. */
export function findNumber(world: World, idOrDigits: string): PhoneNumber | undefined {
  const byId = world.numbers.get(idOrDigits)
  if (byId) return byId
  const digits = idOrDigits.replaceAll(/\D/g, '')
  for (const number of world.numbers.values()) if (number.phoneNumber === digits) return number
  return undefined
}

export function findTemplate(world: World, wabaId: string, name: string, language: string): Template | undefined {
  for (const template of world.templates.values()) {
    if (template.wabaId === wabaId && template.name === name && template.language === language) return template
  }
  return undefined
}

export function phoneByUserId(world: World, userId: string): Phone | undefined {
  for (const phone of world.phones.values()) if (phone.userId === userId) return phone
  return undefined
}

/** Replaces the state in place, because other modules hold a reference to it. */
export function replaceWorld(world: World, replacement: World): void {
  Object.assign(world, replacement)
}
