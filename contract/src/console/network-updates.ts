/** Network updates, for operators. */
import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from '../ids.ts'
import { NetworkUpdate, updateOutcomes } from '../network-update.ts'

const outcome = NetworkUpdate.properties.outcome

export const UpdateQuery = Type.Object(
  {
    field: Type.Optional(Type.String({ maxLength: 128 })),
    outcome: Type.Optional(Type.Unsafe<(typeof updateOutcomes)[number]>(Type.String({ enum: [...updateOutcomes] }))),
    workspace: Type.Optional(Uuid),
    /** The ID of the last update of the page before. */
    before: Type.Optional(NetworkUpdate.properties.id),
  },
  { additionalProperties: false },
)

export const OperatedUpdate = Type.Object({
  ...NetworkUpdate.properties,
  /** Null: no workspace has connected its account. */
  workspace_id: nullable(Uuid),
  /** The members that were not read, such as `messages.0.foo`. */
  unread: Type.Array(Type.String()),
})
export type OperatedUpdate = Static<typeof OperatedUpdate>

export const UpdateList = Type.Object({
  /** How many updates of each field arrived within the retention, the most frequent first. */
  fields: Type.Array(
    Type.Object({ field: Type.String(), outcome, count: Type.Integer(), last_received_at: Timestamp }),
  ),
  /** The latest matching updates, without their values. */
  data: Type.Array(Type.Omit(OperatedUpdate, ['value'])),
  has_more: Type.Boolean(),
})
export type UpdateList = Static<typeof UpdateList>
