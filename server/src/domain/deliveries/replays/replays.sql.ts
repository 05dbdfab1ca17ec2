/** The table `replays`. */
import type { ReplayCoverage, ReplayState } from '@parley/contract/replay'
import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'
import { type Counted, type Coverage, firstId, lastId, type Position, positionSql } from './covered.sql.ts'

export interface ReplayRow {
  id: string
  workspaceId: string
  webhookId: string
  webhookName: string
  state: ReplayState
  since: Date
  until: Date
  types: string[] | null
  senders: string[] | null
  covers: ReplayCoverage
  rate: number
  createdAt: Date
  endedAt: Date | null
  total: number
  delivered: number
  failed: number
  isCounted: boolean
  isDisabled: boolean
  isFailing: boolean
  isSuspended: boolean
}

const columns = `r.id, r.workspace_id as "workspaceId", r.webhook_id as "webhookId", w.name as "webhookName", r.state, r.since, r.until,
  r.event_types as types, r.senders, r.covers, r.rate, r.created_at as "createdAt", r.ended_at as "endedAt",
  greatest(r.total, r.delivered + r.failed) as total, r.delivered, r.failed, r.is_counted as "isCounted",
  not w.enabled as "isDisabled", w.next_attempt_at is not null as "isFailing", s.suspended_at is not null as "isSuspended"`

const joined = 'replays r join webhooks w on w.id = r.webhook_id join workspaces s on s.id = r.workspace_id'

/** The newest first; of one endpoint, or of all (null). */
export const replaysOf = (db: Db, webhookId: string | null, limit: number): Promise<ReplayRow[]> =>
  db.rows(
    `select ${columns} from ${joined} ${webhookId === null ? '' : 'where r.webhook_id = $2'}
     order by r.created_at desc, r.id desc limit $1`,
    webhookId === null ? [limit] : [limit, webhookId],
  )

export const replayById = (db: Db, id: string): Promise<ReplayRow | undefined> =>
  db.first(`select ${columns} from ${joined} where r.id = $1`, [id])

/** Of one workspace, or of all (null). */
export const countOpenReplays = async (db: Db, workspaceId: string | null): Promise<number> => {
  const sql =
    'select count(*)::int as count from replays where ended_at is null and ($1::uuid is null or workspace_id = $1)'
  return (await db.first<{ count: number }>(sql, [workspaceId]))?.count ?? 0
}

export const insertReplay = statement(
  {
    id: 'uuid',
    workspaceId: 'uuid',
    webhookId: 'uuid',
    since: 'timestamptz',
    until: 'timestamptz',
    types: 'text[]',
    senders: 'uuid[]',
    covers: 'text',
    rate: 'int',
    createdAt: 'timestamptz',
  },
  (each) =>
    `insert into replays (id, workspace_id, webhook_id, since, until, event_types, senders, covers, rate, created_at,
       counted_at, counted_id, position_at, position_id, step_at)
     values (${each.id}, ${each.workspaceId}, ${each.webhookId}, ${each.since}, ${each.until}, ${each.types},
       ${each.senders}, ${each.covers}, ${each.rate}, ${each.createdAt}, ${each.since}, '${firstId}', ${each.since},
       '${firstId}', ${each.createdAt})`,
).change

/** The process that runs the replay drops its unsent deliveries. */
export const markCancelled = (db: Db, id: string, now: Date): Promise<number> =>
  db.change(`update replays set state = 'cancelled', step_at = $2 where id = $1 and state = 'running'`, [id, now])

/** Ends the replays of a deleted endpoint. Its deliveries are dropped with it. */
export const endReplaysOf = (db: Db, webhookId: string, now: Date): Promise<number> =>
  db.change(`update replays set state = 'cancelled', ended_at = $2 where webhook_id = $1 and ended_at is null`, [
    webhookId,
    now,
  ])

export const deleteReplaysBefore = (db: Db, before: Date): Promise<number> =>
  db.change('delete from replays where ended_at < $1', [before])

/** The range of events that is left to count. Undefined if all are counted. */
export const leftToCount = (db: Db, id: string) =>
  db.first<Omit<Coverage, 'types'> & { types: string[] | null; subscribed: string[] }>(
    `select r.workspace_id as "workspaceId", r.webhook_id as "webhookId", r.covers, r.event_types as types,
       w.events as subscribed, r.senders, ${positionSql('r.counted_at', 'r.counted_id')} as "from",
       ${positionSql('r.until', `'${lastId}'`)} as "to"
     from replays r join webhooks w on w.id = r.webhook_id where r.id = $1 and not r.is_counted`,
    [id],
  )

/** Adds to the total, unless another process has counted from the same position. */
export const saveCount = (
  db: Db,
  id: string,
  { from, reached, more, found }: Counted & { from: Position },
): Promise<number> =>
  db.change(
    `update replays set total = total + $2, counted_at = $3::timestamptz, counted_id = $4, is_counted = not $5
     where id = $1 and not is_counted and counted_at = $6::timestamptz and counted_id = $7`,
    [id, found, reached.at, reached.id, more, from.at, from.id],
  )
