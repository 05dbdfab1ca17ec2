import { type Static, type TSchema, Type } from 'typebox'
import { nullable, Timestamp, Uuid, WebhookId } from '../ids.ts'
import { ChartSteps } from './overview.ts'
import { PasskeyRow } from './session.ts'

/** A Meta app of the installation. */
export const OperatedApp = Type.Object({
  id: Uuid,
  name: Type.String(),
  graph_url: Type.String(),
  /** Its ID at Meta. Null: it was added without it. */
  meta_app_id: nullable(Type.String()),
  /** The URL for WhatsApp's webhooks. It is entered in the app's settings at Meta. */
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

const setupVerdicts = ['ok', 'changed', 'would_change', 'conflict', 'failed'] as const
const setupStates = ['done', 'checked', 'conflict', 'failed'] as const

/** What was found in a step between a Meta app and a workspace, and what was done about it. */
const SetupStep = Type.Object({
  step: Type.String(),
  found: Type.String(),
  wanted: Type.String(),
  verdict: Type.Unsafe<(typeof setupVerdicts)[number]>(Type.String({ enum: [...setupVerdicts] })),
  remedy: nullable(Type.String()),
})
export type SetupStep = Static<typeof SetupStep>

export const SetupReport = Type.Object({
  /** `conflict`: nothing was changed, because the callback of another service may be replaced only if that is wanted. */
  state: Type.Unsafe<(typeof setupStates)[number]>(Type.String({ enum: [...setupStates] })),
  steps: Type.Array(SetupStep),
})
export type SetupReport = Static<typeof SetupReport>

/** The result of syncing the numbers and templates of an account. */
export const SyncReport = Type.Object({ ok: Type.Boolean(), why: nullable(Type.String()) })
export type SyncReport = Static<typeof SyncReport>

export const OperatedPerson = Type.Object({
  id: Uuid,
  email: Type.String(),
  /** Whether the owner of the address set the password, with a link that was sent to it. */
  email_verified: Type.Boolean(),
  name: Type.String(),
  operator: Type.Boolean(),
  two_factor: Type.Boolean(),
  passkeys: Type.Array(PasskeyRow),
  workspaces: Type.Array(Type.Object({ id: Uuid, name: Type.String(), role: Type.String() })),
  created_at: Timestamp,
  last_seen_at: nullable(Timestamp),
  /** Set: an operator disabled the account. */
  disabled_at: nullable(Timestamp),
})
export type OperatedPerson = Static<typeof OperatedPerson>

const verdicts = ['ok', 'warning', 'problem'] as const

const actionOn = <Kind extends string, Fields extends Record<string, TSchema>>(kind: Kind, fields: Fields) =>
  Type.Object({ kind: Type.Literal(kind), ...fields })

/** An action for one affected object of a check. */
const HealthAction = Type.Union([
  actionOn('connect_account', { app_id: Uuid, waba_id: Type.String() }),
  actionOn('sync_connection', { id: Uuid, waba_id: Type.String() }),
  actionOn('repair_webhook', { id: WebhookId, name: Type.String(), enabled: Type.Boolean() }),
  actionOn('add_credits', { workspace_id: Uuid, name: Type.String() }),
  actionOn('change_key', { workspace_id: Uuid, id: Uuid, name: Type.String() }),
])
export type HealthAction = Static<typeof HealthAction>

/** The first attempt of a test event that an operator sent: no part of the response, which belongs to the workspace. */
export const OperatorTestResult = Type.Object({
  /** Null: not attempted yet. */
  attempt: nullable(
    Type.Object({
      status: nullable(Type.Integer()),
      duration_ms: Type.Number(),
      /** Null: the endpoint accepted the event. */
      trouble: nullable(Type.Object({ title: Type.String(), remedy: Type.String() })),
    }),
  ),
})
export type OperatorTestResult = Static<typeof OperatorTestResult>

export const HealthReport = Type.Object({
  at: Timestamp,
  verdict: Type.Unsafe<(typeof verdicts)[number]>(Type.String({ enum: [...verdicts] })),
  findings: Type.Array(
    Type.Object({
      check: Type.String(),
      verdict: Type.Unsafe<(typeof verdicts)[number]>(Type.String({ enum: [...verdicts] })),
      /** What was found, its effect, what to do, and the affected objects. */
      message: Type.String(),
      effect: nullable(Type.String()),
      remedy: nullable(Type.String()),
      details: Type.Array(Type.String()),
      /** What can be done about it here. */
      actions: Type.Array(HealthAction),
    }),
  ),
})
export type HealthReport = Static<typeof HealthReport>

/** The queues of all workspaces, and the API errors of requests without a known workspace. */
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
  /** The API errors of the last 24 hours without a workspace: requests without a key or with an unknown one. */
  refusals: Type.Array(
    Type.Object({
      code: Type.String(),
      title: Type.String(),
      cause: Type.String(),
      remedy: Type.String(),
      count: Type.Integer(),
      first_at: Timestamp,
      last_at: Timestamp,
      /** The ten addresses (IPv6: /64) with the most errors; `address_count` is the number of all addresses. */
      addresses: Type.Array(Type.String()),
      address_count: Type.Integer(),
    }),
  ),
})
export type TrafficReport = Static<typeof TrafficReport>

const Gauge = Type.Array(nullable(Type.Number()))
const Counts = Type.Array(Type.Integer())

/** The installation over time. Gauges have the worst value of each step; null if nothing was measured in it. */
export const HealthSeries = Type.Object({
  ...ChartSteps.properties,
  queues: Type.Object({ deliveries_waiting: Gauge, deliveries_overdue: Gauge, messages_waiting: Gauge }),
  /** Events published, and delivery attempts by result. */
  throughput: Type.Object({ events: Gauge, succeeded: Counts, failed: Counts }),
  /** Connections of all programs, how long a short transaction took, and the size. */
  database: Type.Object({ connections: Gauge, transaction_ms: Gauge, bytes: Gauge }),
  /** Only null if the database is not on the machine of the service. */
  disk_free_bytes: Gauge,
})
export type HealthSeries = Static<typeof HealthSeries>

/** The price of a message type or a template category (`template.MARKETING`). */
export const Price = Type.Object({ item: Type.String(), credits: Type.Integer() })
export type Price = Static<typeof Price>
