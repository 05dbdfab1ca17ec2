import {
  bool,
  date,
  json,
  jsonObject,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  type Parsed,
  phoneDigits,
  record,
  type Shape,
  text,
} from '../shape.ts'
import { defaultSwitches, type Switches } from '../switches.ts'

const objectId = text({ pattern: /^\d{5,20}$/, description: '5 to 20 digits' })
const delayMs = number({ min: 0, max: 366 * 86_400_000 })

/** null resets a switch to its default. */
const switchShapes = {
  duplicateWebhooks: optional(nullable(bool)),
  reorderWebhooks: optional(nullable(bool)),
  delayWebhooksMs: optional(nullable(delayMs)),
  skipDelivered: optional(nullable(bool)),
  senderIdentity: optional(nullable(oneOf('phone', 'user_id_only', 'empty_from', 'user_id_in_from'))),
  statusShape: optional(nullable(oneOf('v23', 'v24'))),
  pricingModel: optional(nullable(oneOf('PMP', 'CBP'))),
  freeServiceMessages: optional(nullable(number({ min: 0, max: 1_000_000, integer: true }))),
  customerWindow: optional(nullable(bool)),
  pairLimit: optional(nullable(bool)),
  throughputLimit: optional(nullable(bool)),
  failWith: optional(nullable(number({ min: 0, max: 999_999 }))),
  fetchLinks: optional(nullable(bool)),
  sentAfterMs: optional(nullable(delayMs)),
  deliveredAfterMs: optional(nullable(delayMs)),
  readAfterMs: optional((value: unknown, field: string) =>
    value === 'default' ? undefined : nullable(delayMs)(value, field),
  ),
  respondAfterMs: optional(nullable(delayMs)),
  templateReviewMs: optional(nullable(delayMs)),
} satisfies Record<keyof Switches, Shape<unknown>>

export const switchesShape = object(switchShapes)
export type SwitchesInput = Parsed<typeof switchesShape>

/** Sets the given switches. null resets to the default, except for `readAfterMs`, where null means never. */
export function applySwitches(target: Partial<Switches>, input: SwitchesInput): void {
  const settings = target as Record<string, unknown>
  for (const key of Object.keys(defaultSwitches)) {
    if (!Object.hasOwn(input, key)) continue
    const value = input[key as keyof SwitchesInput]
    if (value === undefined || (value === null && key !== 'readAfterMs')) delete settings[key]
    else settings[key] = value
  }
}

export const appShape = object({
  id: optional(objectId),
  name: optional(text({ max: 200 })),
  secret: optional(text({ max: 200 })),
  verifyToken: optional(text({ max: 200 })),
})

export const callbackShape = object({
  url: nullable(text({ max: 200 })),
  verifyToken: optional(text({ max: 200 })),
  /** false: skip the handshake. */
  verify: optional(bool),
  /** The webhook fields that it is subscribed to. Not given: as before, at first every field. */
  fields: optional(list(text({ max: 60 }))),
})

export const wabaShape = object({
  id: optional(objectId),
  name: optional(text({ max: 200 })),
  currency: optional(text({ max: 3 })),
  appIds: optional(list(objectId)),
})

const numberSettings = {
  verifiedName: optional(text({ max: 200 })),
  qualityRating: optional(oneOf('GREEN', 'YELLOW', 'RED', 'NA', 'UNKNOWN')),
  status: optional(text({ max: 40 })),
  codeVerificationStatus: optional(text({ max: 40 })),
  nameStatus: optional(text({ max: 40 })),
  accountMode: optional(oneOf('LIVE', 'SANDBOX')),
  messagingLimit: optional(text({ max: 40 })),
  isOfficialBusinessAccount: optional(bool),
  isOnBizApp: optional(bool),
  throughputMps: optional(number({ min: 1, max: 10_000 })),
  allowedRecipients: optional(nullable(list(phoneDigits))),
  switches: optional(switchesShape),
}

export const numberShape = object({
  id: optional(objectId),
  wabaId: objectId,
  phoneNumber: phoneDigits,
  ...numberSettings,
})
export const numberChangeShape = object(numberSettings)

export const tokenShape = object({
  token: optional(text({ max: 500 })),
  appId: objectId,
  wabaIds: optional(nullable(list(objectId))),
  expiresAt: optional(nullable(date)),
  revoked: optional(bool),
  scopes: optional(list(text({ max: 60 }))),
})

export const tokenChangeShape = object({
  revoked: optional(bool),
  expiresAt: optional(nullable(date)),
  wabaIds: optional(nullable(list(objectId))),
  scopes: optional(list(text({ max: 60 }))),
})

export const templateShape = object({
  id: optional(objectId),
  wabaId: objectId,
  name: text({ pattern: /^[a-z0-9_]{1,512}$/, description: 'lowercase letters, digits and underscores' }),
  language: text({ max: 12 }),
  category: oneOf('MARKETING', 'UTILITY', 'AUTHENTICATION'),
  status: optional(text({ max: 40 })),
  parameterFormat: optional(oneOf('POSITIONAL', 'NAMED')),
  subCategory: optional(text({ max: 60 })),
  components: list(jsonObject),
  rejectedReason: optional(text({ max: 60 })),
})

export const templateChangeShape = object({
  status: text({ max: 40 }),
  reason: optional(text({ max: 60 })),
  rejection: optional(object({ reason: text({ max: 2000 }), recommendation: text({ max: 2000 }) })),
})

export const flowShape = object({
  id: optional(objectId),
  wabaId: objectId,
  name: text({ max: 200 }),
  status: optional(oneOf('DRAFT', 'PUBLISHED', 'DEPRECATED', 'BLOCKED', 'THROTTLED')),
  categories: optional(list(text({ max: 60 }))),
  json: jsonObject,
})

export const catalogShape = object({
  id: optional(objectId),
  wabaId: objectId,
  name: optional(text({ max: 200 })),
  products: list(
    object({
      retailerId: text({ max: 200 }),
      name: text({ max: 200 }),
      price: number({ min: 0 }),
      currency: text({ max: 3 }),
    }),
  ),
})

export const phoneChangeShape = object({
  name: optional(text({ max: 200 })),
  username: optional(nullable(text({ max: 60 }))),
  userId: optional(
    text({
      pattern: /^[A-Z]{2}\.(ENT\.)?[A-Za-z0-9]{1,128}$/,
      description: 'a user ID, for example US.13491200000000000001',
    }),
  ),
  parentUserId: optional(
    nullable(
      text({
        pattern: /^[A-Z]{2}\.ENT\.[A-Za-z0-9]{1,128}$/,
        description: 'a parent user ID, for example US.ENT.11815799212886844830',
      }),
    ),
  ),
  online: optional(bool),
  readReceipts: optional(bool),
  onWhatsApp: optional(bool),
  acceptsMarketing: optional(bool),
  switches: optional(switchesShape),
})

export const queueShape = object({
  batchWindowMs: optional(delayMs),
  batchSize: optional(number({ min: 1, max: 1000, integer: true })),
  concurrency: optional(number({ min: 1, max: 1000, integer: true })),
  timeoutMs: optional(number({ min: 1, max: 600_000 })),
  retryMs: optional(list(delayMs, 100)),
  giveUpAfterMs: optional(delayMs),
  maxQueued: optional(number({ min: 1, max: 10_000_000, integer: true })),
})

export const datasetShape = object({
  apps: optional(list(appShape)),
  wabas: optional(list(wabaShape)),
  numbers: optional(list(numberShape)),
  tokens: optional(list(tokenShape)),
  templates: optional(list(templateShape)),
  flows: optional(list(flowShape)),
  catalogs: optional(list(catalogShape)),
  phones: optional(record(phoneChangeShape)),
  switches: optional(switchesShape),
})

export type Dataset = Parsed<typeof datasetShape>
export type DatasetName = 'demo' | 'empty'

export const noticeShape = object({ field: text({ max: 60 }), value: json })
