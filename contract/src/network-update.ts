/** Changes of WhatsApp's webhooks that were not understood completely. They are stored as they arrived. */
import { type Static, Type } from 'typebox'
import { described, nullable, SenderId, Timestamp, UpdateId } from './ids.ts'

export const updateOutcomes = ['unknown_field', 'not_understood', 'partly_understood', 'notice'] as const
export type UpdateOutcome = (typeof updateOutcomes)[number]

const about = {
  field: Type.String({ description: "WhatsApp's name of the change, such as `calls`. `unknown` if it has none." }),
  sender_id: nullable(SenderId, 'The sender that the update is about. Null if it names none.'),
  outcome: Type.Unsafe<UpdateOutcome>(
    Type.String({
      enum: [...updateOutcomes],
      description:
        '`unknown_field`: a field that Parley does not read. `not_understood`: nothing in it could be read. `partly_understood`: some of it was read, and published as other events. `notice`: a notice that changes nothing in Parley, or less than it says.',
    }),
  ),
  value: Type.Unknown({ description: 'The change as WhatsApp sent it. Its format is that of WhatsApp.' }),
}

export const NetworkUpdate = Type.Object({
  id: described(UpdateId, 'The ID of the update.'),
  object: Type.Literal('network_update', { description: 'The object type.' }),
  received_at: described(Timestamp, 'When the webhook arrived. ISO 8601, UTC.'),
  ...about,
})
export type NetworkUpdate = Static<typeof NetworkUpdate>

export const NetworkUpdateData = Type.Object({
  update_id: described(UpdateId, 'The ID of the update.'),
  ...about,
})
export type NetworkUpdateData = Static<typeof NetworkUpdateData>
