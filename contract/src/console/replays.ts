import { type Static, Type } from 'typebox'
import { Moment } from '../formats.ts'
import { nullable, ReplayId, SenderId, Timestamp, WebhookId } from '../ids.ts'
import { Replay, type ReplayCoverage, replayCoverages, replayRateMax } from '../replay.ts'

const Coverage = Type.Unsafe<ReplayCoverage>(Type.String({ enum: [...replayCoverages] }))

/** Why a running replay sends nothing. `failing`: the endpoint gets one attempt at a time until one succeeds. */
const replayHolds = ['webhook_disabled', 'webhook_failing', 'workspace_suspended'] as const
export type ReplayHold = (typeof replayHolds)[number]

export const ConsoleReplay = Type.Object({
  ...Replay.properties,
  since: Timestamp,
  until: Timestamp,
  /** Null: all types that the endpoint subscribes to. */
  events: nullable(Type.Array(Type.String())),
  /** Null: all numbers. */
  senders: nullable(Type.Array(SenderId)),
  only: Coverage,
  /** `total` still grows: the events are being counted. */
  counting: Type.Boolean(),
  hold: nullable(Type.Unsafe<ReplayHold>(Type.String({ enum: [...replayHolds] }))),
  ended_at: nullable(Timestamp),
})
export type ConsoleReplay = Static<typeof ConsoleReplay>

const covered = {
  since: Moment,
  until: Type.Optional(Moment),
  events: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { minItems: 1, maxItems: 50 })),
  senders: Type.Optional(Type.Array(SenderId, { minItems: 1, maxItems: 100 })),
  only: Type.Optional(Coverage),
}

export const NewReplay = Type.Object(
  { ...covered, rate: Type.Optional(Type.Integer({ minimum: 1, maximum: replayRateMax })) },
  { additionalProperties: false },
)
export type NewReplay = Static<typeof NewReplay>

/** The same without a rate; lists as repeated query parameters are not needed in the console. */
export const ReplayPreviewInput = Type.Object(
  { since: covered.since, until: covered.until, only: covered.only },
  { additionalProperties: false },
)

export const ReplayParams = Type.Object({ id: ReplayId }, { additionalProperties: false })
export const ReplaysOfWebhook = Type.Object({ id: WebhookId }, { additionalProperties: false })
