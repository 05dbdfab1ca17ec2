import type { Ordering } from '@parley/contract/webhook'
import type { Db } from '../../db/db.ts'
import { insertion } from '../../db/statement.ts'

export interface WebhookRow {
  id: string
  workspace_id: string
  name: string
  url: string
  secret_hint: string
  events: string[]
  enabled: boolean
  disabled_reason: string | null
  disabled_at: Date | null
  last_success_at: Date | null
  failures: number
  failing_since: Date | null
  next_attempt_at: Date | null
  staged_secret_hint: string | null
  senders: string[] | null
  ordering: Ordering
  header_names: string[] | null
  created_at: Date
}

const columns = `id, workspace_id, name, url, secret_hint, events, enabled, disabled_reason, disabled_at, last_success_at, failures,
  failing_since, next_attempt_at, staged_secret_hint, senders, ordering, header_names, created_at`

/** Newest first, of one workspace or of all (null). */
export const webhooksOf = (db: Db, workspaceId: string | null): Promise<WebhookRow[]> =>
  db.rows(
    `select ${columns} from webhooks where deleted_at is null ${workspaceId === null ? '' : 'and workspace_id = $1'}
     order by created_at desc, id desc`,
    workspaceId === null ? [] : [workspaceId],
  )

/** Endpoints that are disabled or have at least `failuresMin` failures in a row, of one workspace or of all (null). */
export const failingWebhooks = (db: Db, workspaceId: string | null, failuresMin: number): Promise<WebhookRow[]> =>
  db.rows(
    `select ${columns} from webhooks
     where deleted_at is null and ($1::uuid is null or workspace_id = $1) and (not enabled or failures >= $2)
     order by created_at desc, id desc`,
    [workspaceId, failuresMin],
  )

export const countWebhooks = (db: Db): Promise<{ workspaceId: string; count: number }[]> =>
  db.rows('select workspace_id as "workspaceId", count(*) from webhooks where deleted_at is null group by 1')

export const countWebhooksOf = async (db: Db, workspaceId: string): Promise<number> => {
  const sql = 'select count(*)::int as count from webhooks where workspace_id = $1 and deleted_at is null'
  return (await db.first<{ count: number }>(sql, [workspaceId]))?.count ?? 0
}

export const webhookById = (db: Db, id: string): Promise<WebhookRow | undefined> =>
  db.first(`select ${columns} from webhooks where id = $1 and deleted_at is null`, [id])

export const insertWebhook = insertion('webhooks', {
  id: 'uuid',
  workspaceId: 'uuid',
  name: 'text',
  url: 'text',
  secretSealed: 'text',
  secretHint: 'text',
  ordering: 'text',
  headersSealed: 'text',
  createdAt: 'timestamptz',
  events: 'text[]',
  senders: 'uuid[]',
  headerNames: 'text[]',
})

export interface Settings {
  name: string
  url: string
  events: readonly string[]
  senders: readonly string[] | null
  ordering: Ordering
  headerNames: readonly string[] | null
  headersSealed: string | null
}

/** Changes the settings if they are still those of `before`. */
export const updateWebhook = (db: Db, id: string, before: Settings, after: Settings): Promise<WebhookRow | undefined> =>
  db.first(
    `update webhooks set name = $2, url = $3, events = $4, senders = $5, ordering = $6, header_names = $7,
       headers_sealed = $8
     where id = $1 and deleted_at is null and name = $9 and url = $10 and events = $11 and ordering = $13
       and senders is not distinct from $12::uuid[] and header_names is not distinct from $14::text[]
       and headers_sealed is not distinct from $15
     returning ${columns}`,
    [id, ...valuesOf(after), ...valuesOf(before)],
  )

const valuesOf = ({ name, url, events, senders, ordering, headerNames, headersSealed }: Settings) => [
  name,
  url,
  events,
  senders,
  ordering,
  headerNames,
  headersSealed,
]

/** The encrypted headers. No other statement returns them. */
export const headersSealedOf = async (db: Db, id: string): Promise<string | null> =>
  (await db.first<{ sealed: string | null }>('select headers_sealed as sealed from webhooks where id = $1', [id]))
    ?.sealed ?? null

/** Which of these senders the workspace has. */
export const sendersAmong = async (db: Db, workspaceId: string, ids: readonly string[]): Promise<string[]> =>
  (
    await db.rows<{ id: string }>('select id from senders where workspace_id = $1 and id = any($2::uuid[])', [
      workspaceId,
      ids,
    ])
  ).map(({ id }) => id)

interface SealedSecret {
  secretSealed: string
  secretHint: string
}

/** Replaces the secret. A staged one is dropped. */
export const updateSecret = (db: Db, id: string, { secretSealed, secretHint }: SealedSecret, now: Date) =>
  db.first<WebhookRow>(
    `update webhooks set secret_sealed = $2, secret_hint = $3, secret_changed_at = $4, staged_secret_sealed = null,
       staged_secret_hint = null
     where id = $1 and deleted_at is null returning ${columns}`,
    [id, secretSealed, secretHint, now],
  )

/** Stages a new secret next to the current one; null drops a staged one. */
export const updateStagedSecret = (db: Db, id: string, staged: SealedSecret | null): Promise<WebhookRow | undefined> =>
  db.first(
    `update webhooks set staged_secret_sealed = $2, staged_secret_hint = $3
     where id = $1 and deleted_at is null returning ${columns}`,
    [id, staged?.secretSealed ?? null, staged?.secretHint ?? null],
  )

/** Replaces the secret by the staged one, if there is one. */
export const activateStagedSecret = (db: Db, id: string, now: Date): Promise<WebhookRow | undefined> =>
  db.first(
    `update webhooks set secret_sealed = staged_secret_sealed, secret_hint = staged_secret_hint, secret_changed_at = $2,
       staged_secret_sealed = null, staged_secret_hint = null
     where id = $1 and deleted_at is null and staged_secret_sealed is not null returning ${columns}`,
    [id, now],
  )

/** Whether any endpoint has ever accepted a delivery, including deleted endpoints. */
export const anyDelivered = async (db: Db, workspaceId: string): Promise<boolean> =>
  (await db.first('select 1 as one from webhooks where workspace_id = $1 and last_success_at is not null limit 1', [
    workspaceId,
  ])) !== undefined
