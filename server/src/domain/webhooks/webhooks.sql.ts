import type { Db } from '../../db/db.ts'
import type { Session } from '../../db/session.ts'

export interface WebhookRow {
  id: string
  workspace_id: string
  name: string
  url: string
  secret_hint: string
  events: string[]
  enabled: boolean
  disabled_reason: string | null
  last_success_at: Date | null
}

const columns = 'id, workspace_id, name, url, secret_hint, events, enabled, disabled_reason, last_success_at'

export const webhooksOf = (db: Db, workspaceId: string): Promise<WebhookRow[]> =>
  db.rows(
    `select ${columns} from webhooks where workspace_id = $1 and deleted_at is null order by created_at desc, id desc`,
    [workspaceId],
  )

export const allWebhooks = (db: Db): Promise<WebhookRow[]> =>
  db.rows(`select ${columns} from webhooks where deleted_at is null order by created_at desc, id desc`)

export const webhookById = (db: Db, id: string): Promise<WebhookRow | undefined> =>
  db.first(`select ${columns} from webhooks where id = $1 and deleted_at is null`, [id])

export const insertWebhook = (
  db: Db,
  webhook: {
    id: string
    workspaceId: string
    name: string
    url: string
    secretSealed: string
    secretHint: string
    events: readonly string[]
    createdAt: Date
  },
): Promise<number> =>
  db.change(
    `insert into webhooks (id, workspace_id, name, url, secret_sealed, secret_hint, events, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      webhook.id,
      webhook.workspaceId,
      webhook.name,
      webhook.url,
      webhook.secretSealed,
      webhook.secretHint,
      webhook.events,
      webhook.createdAt,
    ],
  )

export const updateWebhook = (
  db: Db,
  id: string,
  { name, url, events }: { name: string; url: string; events: readonly string[] },
): Promise<WebhookRow | undefined> =>
  db.first(
    `update webhooks set name = $2, url = $3, events = $4 where id = $1 and deleted_at is null returning ${columns}`,
    [id, name, url, events],
  )

export const updateSecret = (db: Db, id: string, sealed: string, hint: string): Promise<WebhookRow | undefined> =>
  db.first(
    `update webhooks set secret_sealed = $2, secret_hint = $3 where id = $1 and deleted_at is null returning ${columns}`,
    [id, sealed, hint],
  )

/** The run of failures begins anew. */
export const markEnabled = (db: Db, id: string): Promise<WebhookRow | undefined> =>
  db.first(
    `update webhooks set enabled = true, disabled_reason = null, failures = 0, failing_since = null
     where id = $1 and deleted_at is null returning ${columns}`,
    [id],
  )

/** An endpoint that is disabled already keeps the reason it has. */
export const markDisabled = (db: Db, id: string, reason: string): Promise<WebhookRow | undefined> =>
  db.first(
    `update webhooks set enabled = false, disabled_reason = case when enabled then $2 else disabled_reason end
     where id = $1 and deleted_at is null returning ${columns}`,
    [id, reason],
  )

export const markDeleted = (db: Db, id: string, at: Date): Promise<number> =>
  db.change(`update webhooks set enabled = false, deleted_at = $2 where id = $1 and deleted_at is null`, [id, at])

export interface SealedTarget {
  id: string
  url: string
  secret_sealed: string
  enabled: boolean
}

/** Changes in the same transaction as what a target holds: a trigger counts it up. */
export async function readRevision(session: Session): Promise<number> {
  const row = await session.ask('routing_revision', 'select value from routing_revision')
  return Number(row?.[0] ?? 0)
}

/** What a delivery needs of endpoints, and the routing revision at which it was read. */
export async function sealedTargets(
  db: Db,
  ids: readonly string[],
): Promise<{ revision: number; rows: SealedTarget[] }> {
  const rows = await db.rows<{ revision: number } & (SealedTarget | { id: null })>(
    `select r.value as revision, w.id, w.url, w.secret_sealed, w.enabled
     from routing_revision r left join webhooks w on w.id = any($1::uuid[]) and w.deleted_at is null`,
    [ids],
  )
  return { revision: rows[0]?.revision ?? 0, rows: rows.filter((row) => row.id !== null) as SealedTarget[] }
}
