import type { Db } from '../../db/db.ts'

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

export interface EndpointRow extends WebhookRow {
  failures: number
  failing_since: Date | null
  created_at: Date
}

/** The endpoints of a workspace, or one of them, with their run of failures. */
export const endpointRows = (db: Db, workspaceId: string, id: string | null): Promise<EndpointRow[]> =>
  db.rows(
    `select ${columns}, failures, failing_since, created_at from webhooks
     where workspace_id = $1 and deleted_at is null and ($2::uuid is null or id = $2)
     order by created_at desc, id desc`,
    [workspaceId, id],
  )
