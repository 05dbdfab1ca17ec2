import { type Static, Type } from 'typebox'
import { eventTypes } from '../events.ts'
import { Moment } from '../formats.ts'
import { nullable, SenderId, Timestamp, Uuid } from '../ids.ts'
import { type Ordering, orderings, Webhook } from '../webhook.ts'
import { FailureExplanation } from './deliveries.ts'
import { SearchText, severalOf } from './list.ts'

/** The headers that can be added to the requests of a webhook. Each makes all of its requests larger. */
export const headersMax = 10
/** The senders in a filter. Every event of the workspace is compared with them. */
export const filterSendersMax = 500

/** `failing` is enabled, but its last attempts all failed. */
export const webhookStates = ['enabled', 'failing', 'disabled'] as const
export type WebhookState = (typeof webhookStates)[number]
export const WebhookStateName = Type.Unsafe<WebhookState>(Type.String({ enum: [...webhookStates] }))

/** The time is when a webhook was created. */
export const WebhookFilters = Type.Object(
  { q: SearchText, state: severalOf(webhookStates), from: Type.Optional(Moment), to: Type.Optional(Moment) },
  { additionalProperties: false },
)
export type WebhookFilters = Static<typeof WebhookFilters>

/** Work on all deliveries of an endpoint: after it was enabled, for retries of what failed, and after a rotation. */
const endpointWorks = ['release', 'retry', 'rotate'] as const
export type EndpointWork = (typeof endpointWorks)[number]

/** A count up to a limit; `more` is true if the limit was reached. */
export const Bounded = Type.Object({ count: Type.Integer(), more: Type.Boolean() })
export type Bounded = Static<typeof Bounded>

/** An endpoint with its recent results. */
export const ConsoleWebhook = Type.Object({
  ...Webhook.properties,
  state: WebhookStateName,
  created_at: Timestamp,
  /** Consecutive failed attempts; at `failures_max` the endpoint is disabled. */
  failures: Type.Integer(),
  failures_max: Type.Integer(),
  failing_since: nullable(Timestamp),
  /** While it is failing: when the next attempt is made. Null while one is in progress and if none is waiting. */
  next_attempt_at: nullable(Timestamp),
  /** During a staged rotation: the new secret, which signs in addition to the current one. */
  staged_secret_hint: nullable(Type.String()),
  last_attempt_at: nullable(Timestamp),
  /** Why the last attempt failed, and its event; null if it succeeded. */
  last_failure: nullable(Type.Object({ ...FailureExplanation.properties, event_id: Uuid })),
  disabled_at: nullable(Timestamp),
  /** It was disabled because it failed too often, and not by a person. */
  disabled_by_failures: Type.Boolean(),
  held: Bounded,
  waiting: Bounded,
  /** Since when its oldest waiting delivery is due; null if none is due. */
  due_since: nullable(Timestamp),
  /** How many events of the last 24 hours its filter by sender left out. */
  left_out: Type.Integer(),
  /** Work on all of its deliveries that continues in the background, and how many it has made due so far. */
  in_progress: Type.Array(
    Type.Object({
      work: Type.Unsafe<EndpointWork>(Type.String({ enum: [...endpointWorks] })),
      done: Type.Integer(),
    }),
  ),
  /** Attempts of the last 24 hours, including the current hour. `hours` has a count for each, oldest first. */
  recent: Type.Object({
    attempts: Type.Integer(),
    succeeded: Type.Integer(),
    p95_ms: nullable(Type.Number()),
    hours: Type.Object({ succeeded: Type.Array(Type.Integer()), failed: Type.Array(Type.Integer()) }),
  }),
})
export type ConsoleWebhook = Static<typeof ConsoleWebhook>

/** The events of the last days by type, including subscribed types without events. */
export const WebhookEvents = Type.Object({
  since: Timestamp,
  data: Type.Array(
    Type.Object({
      type: Type.Unsafe<(typeof eventTypes)[number]>(Type.String({ enum: [...eventTypes] })),
      subscribed: Type.Boolean(),
      /** Events of the webhook's senders. If `more` is true, there may be others that were not counted. */
      events: Bounded,
      last_at: nullable(Timestamp),
    }),
  ),
})
export type WebhookEvents = Static<typeof WebhookEvents>

const input = {
  name: Type.String({ maxLength: 200 }),
  url: Type.String({ maxLength: 4000 }),
  events: Type.Array(Type.String({ maxLength: 100 }), { maxItems: 50 }),
}

/** A header of the requests. A value of null keeps the current one. */
export const HeaderInput = Type.Object(
  { name: Type.String({ maxLength: 200 }), value: nullable(Type.String({ maxLength: 4000 })) },
  { additionalProperties: false },
)
export type HeaderInput = Static<typeof HeaderInput>

const options = {
  senders: Type.Optional(nullable(Type.Array(SenderId, { maxItems: filterSendersMax }))),
  ordering: Type.Optional(Type.Unsafe<Ordering>(Type.String({ enum: [...orderings] }))),
  /** All headers: others are removed. */
  headers: Type.Optional(Type.Array(HeaderInput, { maxItems: 50 })),
}

export const NewWebhook = Type.Object({ ...input, ...options }, { additionalProperties: false })
export type NewWebhook = Static<typeof NewWebhook>

export const WebhookChange = Type.Partial(Type.Object({ ...input, ...options }), {
  additionalProperties: false,
  minProperties: 1,
})
export type WebhookChange = Static<typeof WebhookChange>

/** A staged rotation keeps the old secret until the new one is activated. */
export const RotateWebhook = Type.Object({ staged: Type.Optional(Type.Boolean()) }, { additionalProperties: false })
export type RotateWebhook = Static<typeof RotateWebhook>

/** The only response that contains the signing secret of an endpoint. */
export const CreatedWebhook = Type.Object({ webhook: Webhook, secret: Type.String() })
export type CreatedWebhook = Static<typeof CreatedWebhook>

export const DisableWebhook = Type.Object({ reason: Type.String({ maxLength: 1000 }) }, { additionalProperties: false })

export const TestEventInput = Type.Object(
  { type: Type.Unsafe<(typeof eventTypes)[number]>(Type.String({ enum: [...eventTypes] })) },
  { additionalProperties: false },
)
export type TestEventInput = Static<typeof TestEventInput>

/** The test event. Its delivery has the result. */
export const TestSent = Type.Object({ event_id: Uuid })
export type TestSent = Static<typeof TestSent>

export const RecoverInput = Type.Object({ since: Moment }, { additionalProperties: false })

/** How many deliveries are retried; `more` follow in the background if it is true. */
export const Retried = Type.Object({ retried: Type.Integer(), more: Type.Boolean() })
export type Retried = Static<typeof Retried>
