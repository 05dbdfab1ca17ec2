import type { Db } from '../../db/db.ts'

/** What is not as it should be in a workspace: these read the tables of many nouns, and only read. */

export interface TroubledWebhook {
  id: string
  name: string
  enabled: boolean
  disabled_reason: string | null
  failures: number
  failing_since: Date | null
  /** Deliveries held for it, counted up to `heldMax`. */
  held: number
}

export const heldMax = 10_000

export const troubledWebhooks = (db: Db, workspaceId: string, failuresMin: number): Promise<TroubledWebhook[]> =>
  db.rows(
    `select w.id, w.name, w.enabled, w.disabled_reason, w.failures, w.failing_since, h.held
     from webhooks w, lateral (
       select count(*) as held from (
         select 1 from deliveries d where d.webhook_id = w.id and d.workspace_id = $1 and d.due_at = 'infinity' limit $3
       ) as waiting
     ) h
     where w.workspace_id = $1 and w.deleted_at is null and (not w.enabled or w.failures >= $2)
     order by w.enabled, w.failures desc, w.id limit 20`,
    [workspaceId, failuresMin, heldMax],
  )

export interface TroubledSender {
  id: string
  phone_number: string
  display_name: string | null
  status: string
  quality_rating: string
}

export const troubledSenders = (db: Db, workspaceId: string): Promise<TroubledSender[]> =>
  db.rows(
    `select id, phone_number, display_name, status, quality_rating from senders
     where workspace_id = $1 and status <> 'DELETED' and (status <> 'CONNECTED' or quality_rating = 'RED')
     order by created_at, id limit 20`,
    [workspaceId],
  )

export interface TroubledConnection {
  id: string
  waba_id: string
  sync_error: string | null
  sync_failures: number
  synced_at: Date | null
}

export const troubledConnections = (db: Db, workspaceId: string): Promise<TroubledConnection[]> =>
  db.rows(
    `select id, waba_id, sync_error, sync_failures, synced_at from connections
     where workspace_id = $1 and sync_failures > 0 order by created_at, id limit 20`,
    [workspaceId],
  )

export interface ExpiringKey {
  id: string
  name: string
  expires_at: Date
}

export const expiringKeys = (db: Db, workspaceId: string, now: Date, until: Date): Promise<ExpiringKey[]> =>
  db.rows(
    `select id, name, expires_at from api_keys
     where workspace_id = $1 and revoked_at is null and expires_at > $2 and expires_at <= $3
     order by expires_at, id limit 20`,
    [workspaceId, now, until],
  )
