import { type Static, Type } from 'typebox'
import { Moment } from '../formats.ts'
import { MessageId, nullable, Timestamp, Uuid } from '../ids.ts'
import { consolePageQuery, severalOf } from './list.ts'

export const entryKinds = ['grant', 'debit', 'refund', 'adjust'] as const
export type EntryKind = (typeof entryKinds)[number]

export const CreditsReply = Type.Object({
  balance: Type.Integer(),
  /** The console shows a warning at or below this balance. */
  low_balance: Type.Integer(),
  /** Whether the workspace ever had credits. */
  had_credits: Type.Boolean(),
})

/** Separate from the balance, because it is needed less often and takes longer to compute. */
export const CreditUsage = Type.Object({
  /** The last 30 days in UTC, oldest first. */
  days: Type.Array(Type.Object({ day: Type.String(), spent: Type.Integer(), refunded: Type.Integer() })),
  prices: Type.Array(Type.Object({ item: Type.String(), credits: Type.Integer() })),
})

export const CreditEntry = Type.Object({
  id: Uuid,
  kind: Type.Enum([...entryKinds]),
  amount: Type.Integer(),
  balance_after: Type.Integer(),
  message_id: nullable(MessageId),
  note: nullable(Type.String()),
  created_at: Timestamp,
})

const filters = {
  kind: severalOf(entryKinds),
  from: Type.Optional(Moment),
  to: Type.Optional(Moment),
}

export const StatementQuery = Type.Object({ ...consolePageQuery, ...filters }, { additionalProperties: false })
export const StatementFilters = Type.Object(filters, { additionalProperties: false })

export const LowBalance = Type.Object(
  { low_balance: Type.Integer({ minimum: 0, maximum: 1_000_000_000 }) },
  { additionalProperties: false },
)

export type CreditsReply = Static<typeof CreditsReply>
export type CreditUsage = Static<typeof CreditUsage>
export type CreditEntry = Static<typeof CreditEntry>
export type StatementQuery = Static<typeof StatementQuery>
export type StatementFilters = Static<typeof StatementFilters>
