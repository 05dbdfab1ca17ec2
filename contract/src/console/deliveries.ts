import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid, WebhookId } from '../ids.ts'

const word = <const Word extends string>(words: readonly Word[]) => Type.Unsafe<Word>(Type.String({ enum: [...words] }))

/** Not attempted yet, to be attempted again, waiting for its endpoint to be enabled, arrived, given up. */
export const deliveryStates = ['pending', 'retrying', 'held', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** What a list can be narrowed to; `waiting` is pending or retrying. */
export const deliveryFilters = ['waiting', 'held', 'delivered', 'failed'] as const
export type DeliveryFilter = (typeof deliveryFilters)[number]

/** One event for one endpoint. */
export const Delivery = Type.Object({
  event_id: Uuid,
  webhook_id: WebhookId,
  webhook_name: Type.String(),
  /** Null if the event is past its retention. */
  event_type: nullable(Type.String()),
  state: word(deliveryStates),
  created_at: Timestamp,
  /** Attempts made so far, of all schedules. */
  attempts: Type.Integer(),
  last_attempt_at: nullable(Timestamp),
  last_status: nullable(Type.Integer()),
  last_error: nullable(Type.String()),
  last_duration_ms: nullable(Type.Number()),
  next_attempt_at: nullable(Timestamp),
})
export type Delivery = Static<typeof Delivery>

export const DeliveryQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    webhook: Type.Optional(WebhookId),
    state: Type.Optional(word(deliveryFilters)),
    type: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    event: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    since: Type.Optional(Timestamp),
    until: Type.Optional(Timestamp),
  },
  { additionalProperties: false },
)
export type DeliveryQuery = Static<typeof DeliveryQuery>

/** A page of deliveries. With a rare event type a page may be short, or empty, though more follow: `looked_back_to` says how far. */
export const DeliveryList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Delivery),
  has_more: Type.Boolean(),
  next_cursor: nullable(Type.String()),
  looked_back_to: nullable(Timestamp),
})
export type DeliveryList = Static<typeof DeliveryList>

/** Why an attempt failed, in words, and what helps. */
export const FailureExplanation = Type.Object({ title: Type.String(), remedy: Type.String() })
export type FailureExplanation = Static<typeof FailureExplanation>

export const Attempt = Type.Object({
  at: Timestamp,
  number: Type.Integer({ description: 'Which attempt of its schedule it was.' }),
  trigger: word(['first', 'retry', 'manual']),
  state: word(['delivered', 'failed', 'retrying']),
  address: nullable(Type.String()),
  status: nullable(Type.Integer()),
  error: nullable(Type.String()),
  trouble: nullable(FailureExplanation),
  answer: Type.String({ description: 'How the answer began, as text.' }),
  answer_bytes: Type.Integer(),
  answer_cut: Type.Boolean(),
  duration_ms: Type.Number(),
})
export type Attempt = Static<typeof Attempt>

export const DeliveryDetail = Type.Object({
  ...Delivery.properties,
  webhook_url: Type.String(),
  webhook_enabled: Type.Boolean(),
  disabled_reason: nullable(Type.String()),
  /** The bytes that are signed and sent, as text; null if the event is past its retention. */
  body: nullable(Type.String()),
  /** The message it tells of. */
  message_id: nullable(Type.String()),
  /** An attempt is being made right now. */
  under_way: Type.Boolean(),
  tries: Type.Array(Attempt, { description: 'The oldest first.' }),
  /** What is to come if every attempt fails. */
  ahead: Type.Array(Type.Object({ number: Type.Integer(), at: Timestamp })),
  /** Attempts of a whole schedule. */
  attempts_max: Type.Integer(),
})
export type DeliveryDetail = Static<typeof DeliveryDetail>

export const DeliveryParams = Type.Object({ event: Uuid, webhook: WebhookId }, { additionalProperties: false })

export const RetryInput = Type.Object(
  {
    deliveries: Type.Array(Type.Object({ event_id: Uuid, webhook_id: WebhookId }, { additionalProperties: false }), {
      minItems: 1,
      maxItems: 100,
    }),
  },
  { additionalProperties: false },
)
export type RetryInput = Static<typeof RetryInput>
