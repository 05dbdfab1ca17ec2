import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from '../ids.ts'
import { qualityRatings, Sender, senderStatuses } from '../sender.ts'
import { SearchText, severalOf } from './list.ts'

/** A sender as the console shows it, with its account and when it was last used. */
export const ConsoleSender = Type.Object({
  ...Sender.properties,
  throughput: nullable(Type.String()),
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
