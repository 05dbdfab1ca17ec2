import { type Static, Type } from 'typebox'
import { Moment } from '../formats.ts'
import { nullable, Timestamp, Uuid, WebhookId } from '../ids.ts'
import { severalIds, severalLike, severalOf } from './list.ts'
import { barsQuery, ListBars } from './list-bars.ts'

const oneOf = <const Value extends string>(values: readonly Value[]) =>
  Type.Unsafe<Value>(Type.String({ enum: [...values] }))

/**
 * In this order: not attempted yet, waiting for a retry, waiting for its endpoint to be enabled, delivered, failed for
 * good.
 */
export const deliveryStates = ['pending', 'retrying', 'held', 'delivered', 'failed'] as const
export type DeliveryState = (typeof deliveryStates)[number]

/** The filters of a list; `waiting` is pending or retrying. */
export const deliveryFilters = ['waiting', 'held', 'delivered', 'failed'] as const
export type DeliveryFilter = (typeof deliveryFilters)[number]

/** One event for one endpoint. */
export const Delivery = Type.Object({
  event_id: Uuid,
  webhook_id: WebhookId,
  webhook_name: Type.String(),
  /** Null if the event is past its retention. */
  event_type: nullable(Type.String()),
  state: oneOf(deliveryStates),
  created_at: Timestamp,
  /** All attempts so far, including those of earlier retry schedules. */
  attempts: Type.Integer(),
  /** How many attempts of the current retry schedule were made, or of the last one if it is finished. */
  attempt: Type.Integer(),
  /** The number of attempts in a complete schedule. */
  attempts_max: Type.Integer(),
  last_attempt_at: nullable(Timestamp),
  last_status: nullable(Type.Integer()),
  last_error: nullable(Type.String()),
  last_duration_ms: nullable(Type.Number()),
  next_attempt_at: nullable(Timestamp),
  /** Since when it waits for its endpoint to be enabled; null if it does not. */
  held_since: nullable(Timestamp),
})
export type Delivery = Static<typeof Delivery>

const filters = {
  webhook: severalIds('whk_', 'webhooks'),
  state: severalOf(deliveryFilters),
  type: Type.Optional(severalLike('[a-z_.]{1,100}', 'event types such as message.received')),
  event: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  since: Type.Optional(Moment),
  until: Type.Optional(Moment),
}

export const DeliveryFilters = Type.Object(filters, { additionalProperties: false })
export type DeliveryFilters = Static<typeof DeliveryFilters>

export const DeliveryQuery = Type.Object(
  {
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
    cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    ...filters,
  },
  { additionalProperties: false },
)
export type DeliveryQuery = Static<typeof DeliveryQuery>

/**
 * A page of deliveries. A filter for a rare event type may give a short or empty page although more follow;
 * `looked_back_to` is the time up to which it was searched.
 */
export const DeliveryList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Delivery),
  has_more: Type.Boolean(),
  next_cursor: nullable(Type.String()),
  looked_back_to: nullable(Timestamp),
})
export type DeliveryList = Static<typeof DeliveryList>

const { webhook, since, until } = filters
/** The bars above the list are of these deliveries. */
export const DeliveryBarsQuery = Type.Object({ webhook, since, until, ...barsQuery }, { additionalProperties: false })
export type DeliveryBarsQuery = Static<typeof DeliveryBarsQuery>

/** Why an attempt failed, and how to fix it. */
export const FailureExplanation = Type.Object({ title: Type.String(), remedy: Type.String() })
export type FailureExplanation = Static<typeof FailureExplanation>

const Counts = Type.Array(Type.Integer())
const Times = Type.Array(nullable(Type.Number()))

/** The attempts in each step of a period. */
export const AttemptSeries = Type.Object({
  succeeded: Counts,
  failed: Counts,
  /** The approximate response times; null if there were no attempts. */
  p50_ms: Times,
  p95_ms: Times,
  /** Over the whole period. */
  overall: Type.Object({ p50_ms: nullable(Type.Number()), p95_ms: nullable(Type.Number()) }),
})
export type AttemptSeries = Static<typeof AttemptSeries>

/**
 * Attempts by result: `delivered`, `failed` if it was the last one of its delivery, and `retried` if it failed and another
 * one follows. With the approximate response times of each bar; null if it has no attempts.
 */
export const DeliveryBars = Type.Object({ ...ListBars.properties, p50_ms: Times, p95_ms: Times })
export type DeliveryBars = Static<typeof DeliveryBars>

export const Attempt = Type.Object({
  at: Timestamp,
  number: Type.Integer({ description: 'The number of the attempt in its retry schedule.' }),
  trigger: oneOf(['first', 'retry', 'manual', 'replay']),
  state: oneOf(['delivered', 'failed', 'retrying']),
  address: nullable(Type.String()),
  status: nullable(Type.Integer()),
  error: nullable(Type.String()),
  trouble: nullable(FailureExplanation),
  response_body: Type.String({ description: 'The beginning of the response body, as text.' }),
  response_body_bytes: Type.Integer(),
  response_body_cut: Type.Boolean(),
  response_headers: nullable(
    Type.String({ description: 'The headers of the response, one in a line. Values of cookies are not stored.' }),
  ),
  /** The signatures as they were sent. */
  signatures: Type.Object({ service_signature: Type.String(), webhook_signature: Type.String() }),
  duration_ms: Type.Number(),
})
export type Attempt = Static<typeof Attempt>

export const DeliveryDetail = Type.Object({
  ...Delivery.properties,
  webhook_url: Type.String(),
  webhook_enabled: Type.Boolean(),
  /** The names of the headers that the webhook adds. Their values are secrets. */
  custom_headers: Type.Array(Type.String()),
  disabled_reason: nullable(Type.String()),
  /** The signed request body, as text; null if the event is past its retention. */
  body: nullable(Type.String()),
  /** The message that the event is about. */
  message_id: nullable(Type.String()),
  /** An attempt is in progress. */
  under_way: Type.Boolean(),
  /** The event of the same conversation that this one waits for; null if it waits for none. */
  waits_for: nullable(Uuid),
  tries: Type.Array(Attempt, { description: 'Oldest first.' }),
  /** The remaining attempts if all of them fail. */
  ahead: Type.Array(Type.Object({ number: Type.Integer(), at: Timestamp })),
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

/** Retries all deliveries that match, in several requests: each continues at the cursor of the one before it. */
export const RetryMatchingInput = Type.Object(
  { filters: DeliveryFilters, cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 250 })) },
  { additionalProperties: false },
)
export type RetryMatchingInput = Static<typeof RetryMatchingInput>

export const RetriedMatching = Type.Object({ retried: Type.Integer(), next_cursor: nullable(Type.String()) })
export type RetriedMatching = Static<typeof RetriedMatching>
