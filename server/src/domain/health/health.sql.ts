import type { Db } from '../../db/db.ts'

/** What an operator has to know of the whole installation: these read every workspace, and only read. */

export const readServer = (db: Db): Promise<{ version: string; now: Date; bytes: number } | undefined> =>
  db.first(
    `select current_setting('server_version') as version, clock_timestamp() as now,
       pg_database_size(current_database()) as bytes`,
  )

/** Whether row-level security does not hold for the role that we are. */
export const isAboveWalls = (db: Db): Promise<{ above: boolean; role: string } | undefined> =>
  db.first('select rolsuper or rolbypassrls as above, rolname as role from pg_roles where rolname = current_user')

export interface DeliveryCounts {
  /** Not finished and not held: under way, due, or due later. */
  waiting: number
  held: number
  overdue: number
  oldestDueAt: Date | null
}

export const countDeliveries = (db: Db, now: Date): Promise<DeliveryCounts | undefined> =>
  db.first(
    `select count(*) filter (where due_at <> 'infinity')::int as waiting,
       count(*) filter (where due_at = 'infinity')::int as held, count(*) filter (where due_at <= $1)::int as overdue,
       min(due_at) filter (where due_at <= $1) as "oldestDueAt"
     from deliveries`,
    [now],
  )

export interface OutboxCount {
  state: 'waiting' | 'claimed' | 'calling' | 'unknown' | 'expired'
  count: number
  /** When the first of those that are due became so. */
  oldestDueAt: Date | null
}

export const countOutbox = (db: Db, now: Date): Promise<OutboxCount[]> =>
  db.rows(
    `select state, count(*)::int as count, min(due_at) filter (where due_at <= $1) as "oldestDueAt"
     from outbox group by state order by state`,
    [now],
  )

/** Senders, connections and apps that may not send for now, because the network said so. */
export const activeHolds = (db: Db, now: Date): Promise<{ id: string; until: Date; title: string | null }[]> =>
  db.rows(
    `select subject_id as id, until, error ->> 'title' as title from sending_holds where until > $1 order by until`,
    [now],
  )

export interface TroubledEndpoint {
  id: string
  name: string
  url: string
  enabled: boolean
  reason: string | null
  failures: number
  failingSince: Date | null
  open: number
}

export const troubledEndpoints = (db: Db): Promise<TroubledEndpoint[]> =>
  db.rows(
    `select w.id, w.name, w.url, w.enabled, w.disabled_reason as reason, w.failures, w.failing_since as "failingSince",
       (select count(*)::int from deliveries d where d.webhook_id = w.id) as open
     from webhooks w where w.deleted_at is null and (not w.enabled or w.failures > 0) order by w.created_at, w.id`,
  )

export const sealedSecrets = (
  db: Db,
): Promise<{ kind: 'app' | 'connection' | 'endpoint' | 'person'; id: string; sealed: string[] }[]> =>
  db.rows(
    `select 'app' as kind, id, array[app_secret_sealed, verify_token_sealed] as sealed from apps
     union all select 'connection', id, array[access_token_sealed] from connections
     union all select 'endpoint', id, array[secret_sealed] from webhooks where deleted_at is null
     union all select 'person', id, array[totp_sealed] from people where totp_sealed is not null`,
  )

export interface TroubledConnection {
  id: string
  wabaId: string
  error: string
  failures: number
  syncedAt: Date | null
}

export const troubledConnections = (db: Db): Promise<TroubledConnection[]> =>
  db.rows(
    `select id, waba_id as "wabaId", sync_error as error, sync_failures as failures, synced_at as "syncedAt"
     from connections where sync_failures > 0 and sync_error is not null order by created_at, id`,
  )

export interface ParkedNumber {
  phoneNumberId: string
  connectionId: string
  wabaId: string
  workspaceId: string
  updates: number
  since: Date
  /** Why the account could not be synced last time. */
  syncError: string | null
  syncedAt: Date | null
}

/** The numbers that updates are parked for, the longest first. */
export const parkedNumbers = (db: Db): Promise<ParkedNumber[]> =>
  db.rows(
    `select p.phone_number_id as "phoneNumberId", c.id as "connectionId", c.waba_id as "wabaId",
       c.workspace_id as "workspaceId", p.updates, p.since,
       case when c.sync_failures > 0 then c.sync_error end as "syncError", c.synced_at as "syncedAt"
     from (select connection_id, phone_number_id, count(*)::int as updates, min(received_at) as since
       from parked_updates group by connection_id, phone_number_id) as p
     join connections c on c.id = p.connection_id order by p.since, p.phone_number_id`,
  )

export const countParked = (db: Db): Promise<{ updates: number; oldestAt: Date | null } | undefined> =>
  db.first('select count(*)::int as updates, min(received_at) as "oldestAt" from parked_updates')

export interface TroubledSender {
  id: string
  phoneNumber: string
  status: string
  quality: string
}

export const troubledSenders = (db: Db): Promise<TroubledSender[]> =>
  db.rows(
    `select id, phone_number as "phoneNumber", status, quality_rating as quality from senders
     where status <> 'DELETED' and (status <> 'CONNECTED' or quality_rating = 'RED') order by created_at, id`,
  )

export const countSenders = (db: Db): Promise<{ count: number } | undefined> =>
  db.first(`select count(*)::int as count from senders where status <> 'DELETED'`)

export interface LowBalance {
  id: string
  name: string
  balance: number
  /** What the workspace spent since. */
  spent: number
}

/** Workspaces that are out of credits, or have less than they spent since. */
export const lowBalances = (db: Db, since: Date): Promise<LowBalance[]> =>
  db.rows(
    `select w.id, w.name, b.balance, s.spent from workspaces w join credit_balances b on b.workspace_id = w.id
     cross join lateral (
       select coalesce(-sum(e.amount), 0)::int as spent from credit_entries e
       where e.workspace_id = w.id and e.created_at > $1 and e.kind = 'debit') as s
     where w.suspended_at is null and (b.balance = 0 or b.balance < s.spent) order by w.created_at, w.id`,
    [since],
  )
