import { aboutToExpireSql } from '../../db/about-to-expire.ts'
import type { Db } from '../../db/db.ts'
import { insertion, statement } from '../../db/statement.ts'

/** A WhatsApp Business account that a workspace uses through an app. */
export interface Connection {
  id: string
  workspaceId: string
  appId: string
  wabaId: string
  createdAt: Date
  /** `ACTIVE`, or what the network's notices say about the account. */
  status: string
  statusReason: string | null
  syncedAt: Date | null
  syncError: string | null
  syncDueAt: Date
}

// Without the encrypted token: only vault.sql.ts reads that.
const columns = `id, workspace_id as "workspaceId", app_id as "appId", waba_id as "wabaId", created_at as "createdAt", status,
  status_reason as "statusReason", synced_at as "syncedAt", sync_error as "syncError", sync_due_at as "syncDueAt"`

/** Returns 0 if the account is already connected through this app. */
export const insertConnection = insertion(
  'connections',
  {
    id: 'uuid',
    workspaceId: 'uuid',
    appId: 'uuid',
    wabaId: 'text',
    accessTokenSealed: 'text',
    createdAt: 'timestamptz',
    syncDueAt: 'timestamptz',
  },
  'on conflict (app_id, waba_id) do nothing',
)

/** Oldest first; of one workspace or, for the operator, of all. */
export const listConnections = (db: Db, workspaceId: string | null = null): Promise<Connection[]> =>
  db.rows(`select ${columns} from connections where $1::uuid is null or workspace_id = $1 order by created_at, id`, [
    workspaceId,
  ])

export const connectionById = (db: Db, id: string): Promise<Connection | undefined> =>
  db.first(`select ${columns} from connections where id = $1`, [id])

/** The connection of an account through an app, if there is one. */
export const connectionOfAccount = (db: Db, appId: string, wabaId: string): Promise<Connection | undefined> =>
  db.first(`select ${columns} from connections where app_id = $1 and waba_id = $2`, [appId, wabaId])

/** Connections of one workspace or of all (null) whose access token is about to expire. */
export const expiringTokens = (db: Db, workspaceId: string | null, now: Date) =>
  db.rows<{ id: string; workspaceId: string; wabaId: string; expiresAt: Date }>(
    `select id, workspace_id as "workspaceId", waba_id as "wabaId", token_expires_at as "expiresAt" from connections
     where token_expires_at > $1 and ($2::uuid is null or workspace_id = $2)
       and ${aboutToExpireSql('token_seen_at', 'token_expires_at')} <= $1 order by id`,
    [now, workspaceId],
  )

/** Whether the access token of a connection still expires then. */
export const tokenExpiresAt = async (db: Db, id: string, at: Date): Promise<boolean> =>
  (await db.rows('select 1 from connections where id = $1 and token_expires_at = $2', [id, at])).length > 0

/** A time for the next sync: not before $1, and $2 seconds after the last one that ended or began. */
const nextSync =
  'greatest($1::timestamptz, synced_at + make_interval(secs => $2::int), sync_asked_at + make_interval(secs => $2::int))'

/** Brings an account's next sync forward and returns the connection. While syncs fail, their retry schedule is kept. */
export const bringSyncForward = (db: Db, appId: string, wabaId: string, soonest: Date, minGapSeconds: number) =>
  db.first<Pick<Connection, 'id' | 'workspaceId'> & { statusAt: Date | null }>(
    `update connections set sync_due_at = case when sync_failures > 0 then sync_due_at
       else least(sync_due_at, ${nextSync}) end
     where app_id = $3 and waba_id = $4 returning id, workspace_id as "workspaceId", status_at as "statusAt"`,
    [soonest, minGapSeconds, appId, wabaId],
  )

/** The same for a connection by its ID. Writes nothing if a sync is due by then anyway. */
export const bringSyncForwardOf = (db: Db, id: string, soonest: Date, minGapSeconds: number): Promise<number> =>
  db.change(
    `update connections set sync_due_at = ${nextSync}
     where id = $3 and sync_failures = 0 and sync_due_at > ${nextSync}`,
    [soonest, minGapSeconds, id],
  )

/** Returns 0 if a later notice was applied already. A warning does not replace a restriction or a ban. */
export const changeStatus = statement(
  { id: 'uuid', status: 'text', reason: 'text', until: 'timestamptz', at: 'timestamptz' },
  ({ id, status, reason, until, at }) => `update connections set status = ${status}, status_reason = ${reason},
       status_until = ${until}, status_at = ${at}
     where id = ${id} and (status_at is null or status_at <= ${at})
       and (${status} <> 'FLAGGED' or status in ('ACTIVE', 'FLAGGED'))`,
).change

export interface FailingConnection {
  id: string
  waba_id: string
  sync_error: string | null
  sync_failures: number
  synced_at: Date | null
}

/** Connections whose last sync failed, of one workspace or of all (null). */
export const failingConnections = (db: Db, workspaceId: string | null): Promise<FailingConnection[]> =>
  db.rows(
    `select id, waba_id, sync_error, sync_failures, synced_at from connections
     where sync_failures > 0 and ($1::uuid is null or workspace_id = $1) order by created_at, id`,
    [workspaceId],
  )

/** The workspaces that have connected these accounts. Accounts that are not connected are missing. */
export const workspacesOf = (db: Db, accounts: readonly { appId: string; wabaId: string }[]) =>
  db.rows<{ appId: string; wabaId: string; workspaceId: string }>(
    `select c.app_id as "appId", c.waba_id as "wabaId", c.workspace_id as "workspaceId"
     from (select distinct * from unnest($1::uuid[], $2::text[]) as n(app_id, waba_id)) as n
     join connections c on c.app_id = n.app_id and c.waba_id = n.waba_id`,
    [accounts.map(({ appId }) => appId), accounts.map(({ wabaId }) => wabaId)],
  )
