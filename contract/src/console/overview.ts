import { type Static, Type } from 'typebox'
import { nullable, Timestamp } from '../ids.ts'
import { AttemptSeries } from './deliveries.ts'

const periods = ['24h', '7d', '30d'] as const
export type Period = (typeof periods)[number]

export const OverviewQuery = Type.Object(
  { period: Type.Optional(Type.Unsafe<Period>(Type.String({ enum: [...periods] }))) },
  { additionalProperties: false },
)

const Counts = Type.Array(Type.Integer())

/** The period of charts. `steps` has the start of each step, and every series has one value per step. */
export const ChartSteps = Type.Object({
  period: Type.Unsafe<Period>(Type.String({ enum: [...periods] })),
  from: Timestamp,
  to: Timestamp,
  step_hours: Type.Integer(),
  steps: Type.Array(Timestamp),
})
export type ChartSteps = Static<typeof ChartSteps>

/** The data of the overview's charts. */
export const Overview = Type.Object({
  ...ChartSteps.properties,
  /** Outbound messages by current status, at the time they were accepted; and inbound messages. */
  messages: Type.Object({
    queued: Counts,
    sent: Counts,
    delivered: Counts,
    read: Counts,
    failed: Counts,
    received: Counts,
  }),
  /** Null if the role may not see it; the same applies to the fields below. */
  requests: nullable(Type.Object({ ok: Counts, refused: Counts, failed: Counts })),
  deliveries: nullable(AttemptSeries),
  /** Enabled webhooks that work, enabled ones whose last attempts failed, and disabled ones. */
  endpoints: nullable(Type.Object({ healthy: Type.Integer(), failing: Type.Integer(), disabled: Type.Integer() })),
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
  'token_expiring',
  'refusals_rising',
  'balance_low',
] as const
export type ProblemKind = (typeof problemKinds)[number]

export const Problem = Type.Object({
  kind: Type.Unsafe<ProblemKind>(Type.String({ enum: [...problemKinds] })),
  severity: Type.Unsafe<'problem' | 'warning'>(Type.String({ enum: ['problem', 'warning'] })),
  title: Type.String(),
  detail: Type.String(),
  /** The page where it can be fixed, relative to the workspace: `webhooks/whk_…`. */
  href: Type.String(),
  /** When it started, if known. */
  since: nullable(Timestamp),
})
export type Problem = Static<typeof Problem>

export const Problems = Type.Object({ object: Type.Literal('list'), data: Type.Array(Problem) })
export type Problems = Static<typeof Problems>

const stepKinds = [
  'sender',
  'send',
  'receive',
  'reply',
  'key',
  'request',
  'webhook',
  'delivery',
  'second_factor',
  'teammate',
] as const
export type OnboardingStep = (typeof stepKinds)[number]

/** The first steps in a workspace. Whether a step is done is computed from the data. */
export const Onboarding = Type.Object({
  steps: Type.Array(
    Type.Object({
      kind: Type.Unsafe<OnboardingStep>(Type.String({ enum: [...stepKinds] })),
      done: Type.Boolean(),
      /** Whether this person may take the step. */
      permitted: Type.Boolean(),
    }),
  ),
  /** Whether the workspace has had so few messages that the first steps matter more than the figures. */
  is_new: Type.Boolean(),
  /** The hint of a key, for code examples. */
  key_hint: nullable(Type.String()),
})
export type Onboarding = Static<typeof Onboarding>

const searchKinds = [
  'message',
  'contact',
  'sender',
  'template',
  'webhook',
  'key',
  'form',
  'order',
  'event',
  'request',
] as const
export type SearchKind = (typeof searchKinds)[number]

/** The longest text that can be searched for. */
const searchMax = 200

export const FindQuery = Type.Object(
  { q: Type.String({ minLength: 1, maxLength: searchMax }) },
  { additionalProperties: false },
)

export const SearchResult = Type.Object({
  kind: Type.Unsafe<SearchKind>(Type.String({ enum: [...searchKinds] })),
  id: Type.String(),
  title: Type.String(),
  detail: Type.String(),
  /** A path in the console. */
  href: Type.String(),
})
export type SearchResult = Static<typeof SearchResult>

export const SearchResults = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(SearchResult),
  /** There are more contacts or contents of a kind than are listed. */
  has_more: Type.Boolean(),
  /** Searching contents took too long, so that older results are missing. */
  timed_out: Type.Boolean(),
})
export type SearchResults = Static<typeof SearchResults>
