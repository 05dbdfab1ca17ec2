import type { Json } from './json.ts'
import type { Switches } from './switches.ts'

/** Everything the pretend network knows. Plain values in maps, so that it can be written down and read back. */
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
  switches: Partial<Switches>
}

/** A Meta app. The secret signs its webhooks, the verify token proves its callback. */
export interface App {
  id: string
  name: string
  secret: string
  verifyToken: string
  callbackUrl: string | null
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
  /** Subscribed apps; an app may have asked for this account's messages elsewhere. */
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
  /** Also used in the WhatsApp Business app: edits and deletions then arrive as such. */
  isOnBizApp: boolean
  pin: string | null
  onboardedAt: string
  throughputMps: number
  /** A test number may only write to these; null means anyone. */
  allowedRecipients: string[] | null
  override: Callback | null
  switches: Partial<Switches>
}

export interface AccessToken {
  token: string
  appId: string
  /** Accounts the token may see; null means all. */
  wabaIds: string[] | null
  expiresAt: string | null
  revoked: boolean
}

export interface Template {
  id: string
  wabaId: string
  name: string
  language: string
  category: string
  status: string
  parameterFormat: 'POSITIONAL' | 'NAMED'
  components: Json[]
  rejectedReason: string
  qualityScore: string
  createdAt: string
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

export interface Product {
  retailerId: string
  name: string
  price: number
  currency: string
}

/** What is known of a file; the bytes are kept by the media store. */
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

/** A pretend handset, known by its number. */
export interface Phone {
  waId: string
  name: string
  userId: string
  username: string | null
  online: boolean
  readReceipts: boolean
  /** false: the number is not on WhatsApp, so nothing reaches it. */
  onWhatsApp: boolean
  /** false: the person stopped marketing messages. */
  acceptsMarketing: boolean
  switches: Partial<Switches>
}

/** One line of a conversation between a phone and a business number. */
export interface Message {
  id: string
  direction: 'in' | 'out'
  numberId: string
  waId: string
  type: string
  /** The type's own object, as it was on the wire. */
  content: unknown
  at: string
  contextId: string | null
  /** Only on messages a business sent. */
  journey: Lifecycle | null
  /** Only on messages a phone wrote: the business's app has taken it, or the business said that it has seen it. */
  receipt?: 'taken' | 'seen'
}

export interface Lifecycle {
  state: 'accepted' | 'sent' | 'delivered' | 'read' | 'played' | 'failed'
  fate: MessageOutcome
  opaque: string | null
  /** True when the business wrote to the user id instead of the number. */
  toUserId: boolean
  category: string
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
    switches: {},
  }
}

export function conversationKey(numberId: string, waId: string): string {
  return `${numberId} ${waId}`
}

const keptMessages = 50_000

/** Remembers a message; beyond a generous number the oldest are forgotten. */
export function remember(world: World, message: Message): void {
  world.messages.set(message.id, message)
  if (world.messages.size > keptMessages) {
    const [oldest] = world.messages.keys()
    if (oldest !== undefined) world.messages.delete(oldest)
  }
}

/** A business number by its id or by its digits, with or without a plus. */
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

/** Fills the world in place, so that everyone who holds it sees the new one. */
export function replaceWorld(world: World, by: World): void {
  Object.assign(world, by)
}
