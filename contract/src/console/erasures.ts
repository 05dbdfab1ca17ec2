/** Exporting and erasing what a workspace has about a contact: someone it exchanged messages with. */
import { type Static, Type } from 'typebox'
import { Phone, UserId } from '../formats.ts'
import { nullable, Timestamp, Uuid } from '../ids.ts'

/** A contact by exactly one of both. */
export const NamedContact = Type.Object(
  { phone: Type.Optional(Phone), user_id: Type.Optional(UserId) },
  { additionalProperties: false },
)

/** It does not say who was erased. */
export const Erasure = Type.Object({
  id: Uuid,
  asked_by: Type.String(),
  asked_at: Timestamp,
  /** Null while it is in progress. */
  ended_at: nullable(Timestamp),
  /** It continues when the queued message to the contact is sent or has failed. */
  waits: Type.Boolean(),
  /** How many of each kind were erased: messages, inbound_messages, files, events and so on. */
  removed: Type.Record(Type.String(), Type.Integer()),
})

export type NamedContact = Static<typeof NamedContact>
export type Erasure = Static<typeof Erasure>
