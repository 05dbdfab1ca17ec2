import { type Static, Type } from 'typebox'
import { nullable, Timestamp, Uuid } from '../ids.ts'
import { PasskeyRow } from './session.ts'

/** A Meta app of the installation. */
export const OperatedApp = Type.Object({
  id: Uuid,
  name: Type.String(),
  graph_url: Type.String(),
  /** Where the network is to post: goes into the app's settings at Meta. */
  callback_url: Type.String(),
  created_at: Timestamp,
})
export type OperatedApp = Static<typeof OperatedApp>

export const OperatedConnection = Type.Object({
  id: Uuid,
  workspace_id: Uuid,
  app_id: Uuid,
  waba_id: Type.String(),
  created_at: Timestamp,
  synced_at: nullable(Timestamp),
  sync_error: nullable(Type.String()),
  sync_due_at: Timestamp,
})
export type OperatedConnection = Static<typeof OperatedConnection>

/** What came of asking an account for its numbers and templates. */
export const SyncReport = Type.Object({ ok: Type.Boolean(), why: nullable(Type.String()) })
export type SyncReport = Static<typeof SyncReport>

export const OperatedPerson = Type.Object({
  id: Uuid,
  email: Type.String(),
  name: Type.String(),
  operator: Type.Boolean(),
  two_factor: Type.Boolean(),
  passkeys: Type.Array(PasskeyRow),
  workspaces: Type.Array(Type.Object({ id: Uuid, name: Type.String(), role: Type.String() })),
  created_at: Timestamp,
  last_seen_at: nullable(Timestamp),
})
export type OperatedPerson = Static<typeof OperatedPerson>

const verdicts = ['ok', 'warning', 'problem'] as const

export const HealthReport = Type.Object({
  at: Timestamp,
  verdict: Type.Unsafe<(typeof verdicts)[number]>(Type.String({ enum: [...verdicts] })),
  findings: Type.Array(
    Type.Object({
      check: Type.String(),
      verdict: Type.Unsafe<(typeof verdicts)[number]>(Type.String({ enum: [...verdicts] })),
      /** What was found, what that leads to, what to do, and each thing concerned. */
      says: Type.String(),
      means: nullable(Type.String()),
      advice: nullable(Type.String()),
      details: Type.Array(Type.String()),
    }),
  ),
})
export type HealthReport = Static<typeof HealthReport>

/** What waits over all workspaces, and who was refused before it was known which workspace they belong to. */
export const TrafficReport = Type.Object({
  at: Timestamp,
  deliveries: Type.Object({
    waiting: Type.Integer(),
    held: Type.Integer(),
    overdue: Type.Integer(),
    oldest_overdue_ms: Type.Integer(),
  }),
  outbox: Type.Object({
    waiting: Type.Integer(),
    sending: Type.Integer(),
    unknown: Type.Integer(),
    oldest_overdue_ms: Type.Integer(),
  }),
  /** Of the last 24 hours, without a workspace: no key, or one that nobody has. */
  refusals: Type.Array(
    Type.Object({
      code: Type.String(),
      title: Type.String(),
      cause: Type.String(),
      remedy: Type.String(),
      count: Type.Integer(),
      first_at: Timestamp,
      last_at: Timestamp,
      /** The ten busiest; how many there are in all stands beside. */
      addresses: Type.Array(Type.String()),
      address_count: Type.Integer(),
    }),
  ),
})
export type TrafficReport = Static<typeof TrafficReport>

/** What a type of message, or a category of templates (`template.MARKETING`), costs. */
export const Price = Type.Object({ item: Type.String(), credits: Type.Integer() })
export type Price = Static<typeof Price>
