import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from '../ids.ts'
import { qualityRatings, Sender, senderStatuses } from '../sender.ts'
import { SearchText, severalOf } from './list.ts'
import { ChartSteps } from './overview.ts'

/** A sender as the console shows it, with its account and when it was last used. */
export const ConsoleSender = Type.Object({
  ...Sender.properties,
  /** A name of `messagesPerSecond`, or another one of WhatsApp. */
  throughput: nullable(Type.String()),
  /** How many people the business may write to first within 24 hours: `TIER_2K`. */
  messaging_limit: nullable(Type.String()),
  name_status: nullable(Type.String()),
  /** A display name that WhatsApp reviews or reviewed. */
  requested_name: nullable(Type.String()),
  requested_name_status: nullable(Type.String()),
  /** Whether the number was verified with a code. */
  verification_status: nullable(Type.String()),
  has_pin: nullable(Type.Boolean()),
  /** Why the network changed its status or its quality rating. */
  status_reason: nullable(Type.String()),
  connection: Type.Object({
    id: Uuid,
    account: Type.String(),
    /** `ACTIVE`, or what the network's notices say about the account. */
    status: Type.String(),
    status_reason: nullable(Type.String()),
    /** When a restriction ends. */
    status_until: nullable(Timestamp),
    synced_at: nullable(Timestamp),
    sync_error: nullable(Type.String()),
  }),
  last_sent_at: nullable(Timestamp),
  last_received_at: nullable(Timestamp),
})

/** A change of the status or the quality rating, as far back as events are stored. */
const SenderChange = Type.Object({
  at: Timestamp,
  status: Type.String(),
  previous_status: Type.String(),
  quality_rating: Type.String(),
  /** Null if no earlier change is stored. */
  previous_quality_rating: nullable(Type.String()),
  reason: nullable(Type.String()),
})
export type SenderChange = Static<typeof SenderChange>

/** A sender on its page, with its latest changes, newest first. */
export const SenderDetail = Type.Object({ ...ConsoleSender.properties, changes: Type.Array(SenderChange) })
export type SenderDetail = Static<typeof SenderDetail>

const Counts = Type.Array(Type.Integer())

/** A step of the activity counts at most this many sent and received messages, so that counting never takes long. */
export const countedPerStep = 10_000

/** The messages of a sender by step: outbound ones by their current status, at the time they were accepted. */
export const SenderActivity = Type.Object({
  ...ChartSteps.properties,
  queued: Counts,
  sent: Counts,
  failed: Counts,
  received: Counts,
  /** Whether a step has more than `countedPerStep`. */
  has_more: Type.Boolean(),
  last_day: Type.Object({
    /** How many people a template was sent to. Those of them who wrote in that time do not use the messaging limit. */
    people: Type.Integer(),
    /** The most messages that were sent within a second. */
    peak_per_second: Type.Integer(),
    /** Whether there are more messages than were read for these two. */
    has_more: Type.Boolean(),
  }),
})
export type SenderActivity = Static<typeof SenderActivity>

/** What WhatsApp accepts from a number, by its throughput. `BUSINESS_APP`: it is also used in the WhatsApp Business app. */
export const messagesPerSecond: Readonly<Record<string, number>> = { STANDARD: 80, HIGH: 1000, BUSINESS_APP: 20 }

/** The people of a messaging limit, such as 2,000 for `TIER_2K`; null if it is none that we know. */
export function peopleOf(limit: string | null): number | null {
  const [, count, thousands] = /^TIER_(\d+)(K?)$/.exec(limit ?? '') ?? []
  if (limit === 'TIER_UNLIMITED') return Number.POSITIVE_INFINITY
  return count === undefined ? null : Number(count) * (thousands ? 1000 : 1)
}

/** WhatsApp's categories of businesses, and how it shows them. */
export const businessCategories: Readonly<Record<string, string>> = {
  ALCOHOL: 'Alcoholic beverages',
  APPAREL: 'Clothing and apparel',
  AUTO: 'Automotive',
  BEAUTY: 'Beauty, spa and salon',
  EDU: 'Education',
  ENTERTAIN: 'Entertainment',
  EVENT_PLAN: 'Event planning and service',
  FINANCE: 'Finance and banking',
  GOVT: 'Public service',
  GROCERY: 'Food and grocery',
  HEALTH: 'Medical and health',
  HOTEL: 'Hotel and lodging',
  NONPROFIT: 'Non-profit',
  ONLINE_GAMBLING: 'Online gambling and gaming',
  OTC_DRUGS: 'Over-the-counter drugs',
  OTHER: 'Other',
  PHYSICAL_GAMBLING: 'Gambling and gaming that is not online',
  PROF_SERVICES: 'Professional services',
  RESTAURANT: 'Restaurant',
  RETAIL: 'Shopping and retail',
  TRAVEL: 'Travel and transportation',
}

/** What people see in WhatsApp when they open the business. An empty text is not shown. */
export const BusinessProfile = Type.Object({
  about: Type.String(),
  address: Type.String(),
  description: Type.String(),
  email: Type.String(),
  category: Type.String(),
  websites: Type.Array(Type.String()),
})
export type BusinessProfile = Static<typeof BusinessProfile>

export const SenderFilters = Type.Object(
  { q: SearchText, status: severalOf(senderStatuses), quality: severalOf(qualityRatings) },
  { additionalProperties: false },
)
export type SenderFilters = Static<typeof SenderFilters>

/** The result of a sync, by account. */
export const SyncReply = Type.Object({
  accounts: Type.Array(
    Type.Object({
      account: Type.String(),
      outcome: Type.Enum(['synced', 'failed', 'overtaken']),
      senders: Type.Integer(),
      templates: Type.Integer(),
      /** The error, or a note. */
      remark: nullable(Type.String()),
    }),
  ),
})

export type ConsoleSender = Static<typeof ConsoleSender>
export type SyncReply = Static<typeof SyncReply>
