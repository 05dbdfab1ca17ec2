import { aboutToExpireSql } from '../../db/about-to-expire.ts'
import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

export interface ConnectionRow {
  id: string
  workspace_id: string
  app_id: string
  waba_id: string
  created_at: Date
  status: string
  status_reason: string | null
  synced_at: Date | null
  sync_error: string | null
  sync_due_at: Date
}

// Without the encrypted token: only vault.sql.ts reads that.
const columns =
  'id, workspace_id, app_id, waba_id, created_at, status, status_reason, synced_at, sync_error, sync_due_at'

const insertion = statement(
  {
    connection: {
      id: 'uuid',
      workspace_id: 'uuid',
      app_id: 'uuid',
      waba_id: 'text',
      access_token_sealed: 'text',
      created_at: 'timestamptz',
      sync_due_at: 'timestamptz',
    },
  },
  ({ connection }) => `insert into connections (${connection.columns}) select * from ${connection}
     on conflict (app_id, waba_id) do nothing`,
)

/** Returns 0 if the account is already connected through this app. */
export const insertConnection = (
  db: Db,
  row: Pick<ConnectionRow, 'id' | 'workspace_id' | 'app_id' | 'waba_id' | 'created_at' | 'sync_due_at'>,
  access_token_sealed: string,
): Promise<number> => insertion.change(db, { connection: [{ ...row, access_token_sealed }] })

export const connectionsOf = (db: Db, workspaceId: string): Promise<ConnectionRow[]> =>
  db.rows(`select ${columns} from connections where workspace_id = $1 order by created_at, id`, [workspaceId])

export const allConnections = (db: Db): Promise<ConnectionRow[]> =>
  db.rows(`select ${columns} from connections order by created_at, id`)

export const connectionById = (db: Db, id: string): Promise<ConnectionRow | undefined> =>
  db.first(`select ${columns} from connections where id = $1`, [id])

export const connectionOfAccount = (db: Db, appId: string, wabaId: string): Promise<ConnectionRow | undefined> =>
  db.first(`select ${columns} from connections where app_id = $1 and waba_id = $2`, [appId, wabaId])

/** Connections of one workspace or of all (null) whose access token is about to expire. */
export const expiringTokens = (
  db: Db,
  workspaceId: string | null,
  now: Date,
): Promise<{ id: string; workspaceId: string; wabaId: string; expiresAt: Date }[]> =>
  db.rows(
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
export const bringSyncForward = (
  db: Db,
  appId: string,
  wabaId: string,
  soonest: Date,
  minGapSeconds: number,
): Promise<(Pick<ConnectionRow, 'id' | 'workspace_id'> & { status_at: Date | null }) | undefined> =>
  db.first(
    `update connections set sync_due_at = case when sync_failures > 0 then sync_due_at
       else least(sync_due_at, ${nextSync}) end
     where app_id = $3 and waba_id = $4 returning id, workspace_id, status_at`,
    [soonest, minGapSeconds, appId, wabaId],
  )

/** The same for a connection by its ID. Writes nothing if a sync is due by then anyway. */
export const bringSyncForwardOf = (db: Db, id: string, soonest: Date, minGapSeconds: number): Promise<number> =>
  db.change(
    `update connections set sync_due_at = ${nextSync}
     where id = $3 and sync_failures = 0 and sync_due_at > ${nextSync}`,
    [soonest, minGapSeconds, id],
  )

const changingStatus = statement(
  {
    id: 'uuid',
    status: 'text',
    reason: 'text',
    until: 'timestamptz',
    at: 'timestamptz',
  },
  ({ id, status, reason, until, at }) => `update connections set status = ${status}, status_reason = ${reason},
       status_until = ${until}, status_at = ${at}
     where id = ${id} and (status_at is null or status_at <= ${at})
       and (${status} <> 'FLAGGED' or status in ('ACTIVE', 'FLAGGED'))`,
)

/** Returns 0 if a later notice was applied already. A warning does not replace a restriction or a ban. */
export const changeStatus = (
  db: Db,
  change: { id: string; status: string; reason: string | null; until: Date | null; at: Date },
): Promise<number> => changingStatus.change(db, change)

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
export const workspacesOf = (
  db: Db,
  accounts: readonly { appId: string; wabaId: string }[],
): Promise<{ appId: string; wabaId: string; workspaceId: string }[]> =>
  db.rows(
    `select c.app_id as "appId", c.waba_id as "wabaId", c.workspace_id as "workspaceId"
     from (select distinct * from unnest($1::uuid[], $2::text[]) as n(app_id, waba_id)) as n
     join connections c on c.app_id = n.app_id and c.waba_id = n.waba_id`,
    [accounts.map(({ appId }) => appId), accounts.map(({ wabaId }) => wabaId)],
  )
