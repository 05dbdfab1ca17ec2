import type { Db } from '../../db/db.ts'

export interface WebhookRow {
  id: string
  name: string
  url: string
  secret_hint: string
  events: string[]
  enabled: boolean
  disabled_reason: string | null
  last_success_at: Date | null
}

export const webhooksOf = (db: Db, workspaceId: string): Promise<WebhookRow[]> =>
  db.rows(
    `select id, name, url, secret_hint, events, enabled, disabled_reason, last_success_at
     from webhooks where workspace_id = $1 order by created_at desc, id desc`,
    [workspaceId],
  )

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
