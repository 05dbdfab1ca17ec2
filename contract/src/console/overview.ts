import { type Static, Type } from 'typebox'
import { nullable, Timestamp } from '../ids.ts'

export const periods = ['24h', '7d', '30d'] as const
export type Period = (typeof periods)[number]

export const OverviewQuery = Type.Object(
  { period: Type.Optional(Type.Unsafe<Period>(Type.String({ enum: [...periods] }))) },
  { additionalProperties: false },
)

const Counts = Type.Array(Type.Integer())

/** Where every step of a chart begins; all series of an overview have as many values. */
export const Overview = Type.Object({
  period: Type.Unsafe<Period>(Type.String({ enum: [...periods] })),
  from: Timestamp,
  to: Timestamp,
  step_hours: Type.Integer(),
  steps: Type.Array(Timestamp),
  /** Messages by the status they have now, at the time they were taken; and those that came in. */
  messages: Type.Object({
    queued: Counts,
    sent: Counts,
    delivered: Counts,
    read: Counts,
    failed: Counts,
    received: Counts,
  }),
  /** Null where the role does not show it; so below. */
  requests: nullable(Type.Object({ ok: Counts, refused: Counts, failed: Counts })),
  deliveries: nullable(
    Type.Object({
      succeeded: Counts,
      failed: Counts,
      /** Milliseconds the endpoints took to answer, nearly; null where nothing was delivered. */
      p50_ms: Type.Array(nullable(Type.Integer())),
      p95_ms: Type.Array(nullable(Type.Integer())),
      /** Over the whole period. */
      overall: Type.Object({ p50_ms: nullable(Type.Integer()), p95_ms: nullable(Type.Integer()) }),
    }),
  ),
  credits: nullable(
    Type.Object({ balance: Type.Integer(), spent: Type.Integer(), low_balance: Type.Integer(), low: Type.Boolean() }),
  ),
})
export type Overview = Static<typeof Overview>

const problemKinds = [
  'webhook_disabled',
  'webhook_failing',
  'sender_troubled',
  'sync_failing',
  'key_expiring',
  'refusals_rising',
  'balance_low',
] as const
export type ProblemKind = (typeof problemKinds)[number]

export const Problem = Type.Object({
  kind: Type.Unsafe<ProblemKind>(Type.String({ enum: [...problemKinds] })),
  severity: Type.Unsafe<'problem' | 'warning'>(Type.String({ enum: ['problem', 'warning'] })),
  title: Type.String(),
  detail: Type.String(),
  /** Where it can be seen to, below the workspace: `webhooks/whk_…`. */
  href: Type.String(),
  /** Since when, where that is known. */
  since: nullable(Timestamp),
})
export type Problem = Static<typeof Problem>

export const Problems = Type.Object({ object: Type.Literal('list'), data: Type.Array(Problem) })
export type Problems = Static<typeof Problems>

const stepKinds = ['second_factor', 'sender', 'key', 'request', 'webhook', 'delivery', 'teammate'] as const
export type OnboardingStep = (typeof stepKinds)[number]

/** Each step finds out by itself whether it is done. */
export const Onboarding = Type.Object({
  steps: Type.Array(
    Type.Object({
      kind: Type.Unsafe<OnboardingStep>(Type.String({ enum: [...stepKinds] })),
      done: Type.Boolean(),
      /** Whether this person may take the step. */
      permitted: Type.Boolean(),
    }),
  ),
  /** A key to show in examples: its hint, never more. */
  key_hint: nullable(Type.String()),
})
export type Onboarding = Static<typeof Onboarding>

const findKinds = [
  'message',
  'person',
  'sender',
  'template',
  'webhook',
  'key',
  'form',
  'order',
  'event',
  'request',
] as const
export type FindKind = (typeof findKinds)[number]

export const FindQuery = Type.Object(
  { q: Type.String({ minLength: 1, maxLength: 200 }) },
  { additionalProperties: false },
)

export const SearchResult = Type.Object({
  kind: Type.Unsafe<FindKind>(Type.String({ enum: [...findKinds] })),
  id: Type.String(),
  title: Type.String(),
  detail: Type.String(),
  /** A path of the console. */
  href: Type.String(),
})
export type SearchResult = Static<typeof SearchResult>

export const SearchResults = Type.Object({ object: Type.Literal('list'), data: Type.Array(SearchResult) })
export type SearchResults = Static<typeof SearchResults>
