import type { UpdateOutcome } from '@parley/contract/network-update'
import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

/** Stores updates that are not stored yet and returns their IDs. In the order of the unique key, so that two batches cannot deadlock. */
export const insertUpdates = statement(
  {
    updates: {
      id: 'uuid',
      workspaceId: 'uuid',
      senderId: 'uuid',
      appId: 'uuid',
      field: 'text',
      outcome: 'text',
      paths: 'json',
      digest: 'bytea',
      webhook: 'text',
    },
    now: 'timestamptz',
    interpretation: 'int',
  },
  ({ updates, now, interpretation }) => `insert into network_updates
       (id, workspace_id, sender_id, app_id, field, outcome, paths, received_at, interpretation, digest, webhook)
     select id, workspace_id, sender_id, app_id, field, outcome, array(select json_array_elements_text(paths)), ${now},
       ${interpretation}, digest, webhook
     from ${updates} order by app_id, digest
     on conflict do nothing returning id`,
).rows<{ id: string }>

/** An update without its webhook, which may have megabytes. */
export interface UpdateSummary {
  id: string
  workspaceId: string | null
  senderId: string | null
  appId: string
  field: string
  outcome: UpdateOutcome
  paths: string[]
  receivedAt: Date
}

export interface UpdateRow extends UpdateSummary {
  webhook: string
}

const summary = `id, workspace_id as "workspaceId", sender_id as "senderId", app_id as "appId", field, outcome, paths,
       received_at as "receivedAt"`
const columns = `${summary}, webhook`

export interface UpdateFilter {
  workspaceId?: string | undefined
  field?: string | undefined
  outcome?: UpdateOutcome | undefined
}

const matches = `($1::uuid is null or workspace_id = $1) and ($2::text is null or field = $2)
       and ($3::text is null or outcome = $3)`

const valuesOf = ({ workspaceId, field, outcome }: UpdateFilter) => [
  workspaceId ?? null,
  field ?? null,
  outcome ?? null,
]

/** The latest updates, before `beforeId`. */
const selectLatest =
  <Row extends UpdateSummary>(selected: string) =>
  (db: Db, filter: UpdateFilter, beforeId: string | null, take: number): Promise<Row[]> =>
    db.rows(
      `select ${selected} from network_updates where ${matches} and ($4::uuid is null or id < $4) order by id desc limit $5`,
      [...valuesOf(filter), beforeId, take],
    )

export const selectSummaries = selectLatest<UpdateSummary>(summary)
export const selectUpdates = selectLatest<UpdateRow>(columns)

export const selectUpdate = (db: Db, id: string): Promise<UpdateRow | undefined> =>
  db.first(`select ${columns} from network_updates where id = $1`, [id])

export interface UpdateCount {
  field: string
  outcome: UpdateOutcome
  count: number
  lastReceivedAt: Date
}

/** How many updates there are from an ID on, the most frequent first. */
export const countUpdates = (db: Db, filter: UpdateFilter, fromId: string): Promise<UpdateCount[]> =>
  db.rows(
    `select field, outcome, count(*)::int as count, max(received_at) as "lastReceivedAt" from network_updates
     where ${matches} and id >= $4 group by field, outcome order by count desc, field, outcome`,
    [...valuesOf(filter), fromId],
  )

/** Which stored updates to read again. */
export interface RereadFilter extends UpdateFilter {
  /** Updates that this interpretation or an earlier one has read last. */
  upTo: number
  afterId: string
}

/**
 * Locks the next updates, except updates that another process has locked, and returns at most `bytes` of them, but at
 * least one.
 */
export const lockUpdates = (db: Db, filter: RereadFilter, { updates, bytes }: { updates: number; bytes: number }) =>
  db.rows<UpdateRow>(
    `with locked as materialized (
       select * from network_updates where ${matches} and interpretation <= $4 and id > $5
       order by id limit $6 for update skip locked
     ), fitting as materialized (
       select id, row_number() over by_id as n, sum(octet_length(webhook)) over by_id as bytes from locked
       window by_id as (order by id)
     )
     select ${columns} from locked join fitting using (id) where bytes <= $7 or n = 1 order by id`,
    [...valuesOf(filter), filter.upTo, filter.afterId, updates, bytes],
  )

export const deleteUpdates = (db: Db, ids: readonly string[]): Promise<number> =>
  db.change('delete from network_updates where id = any($1::uuid[])', [ids])

/** Stores what an interpretation made of updates that stay. */
export const saveReread = statement(
  {
    updates: { id: 'uuid', workspaceId: 'uuid', senderId: 'uuid', outcome: 'text', paths: 'json' },
    interpretation: 'int',
  },
  ({ updates, interpretation }) => `update network_updates n set workspace_id = u.workspace_id, sender_id = u.sender_id,
       outcome = u.outcome, paths = array(select json_array_elements_text(u.paths)), interpretation = ${interpretation}
     from (select * from ${updates}) as u where n.id = u.id`,
).change

/** Deletes updates with lower IDs, at most `limit`. */
export const deleteUpdatesBefore = (db: Db, beforeId: string, limit: number): Promise<number> =>
  db.change(
    `delete from network_updates where id in (select id from network_updates where id < $1 order by id limit $2)`,
    [beforeId, limit],
  )

/** The next updates of a workspace that match one of these patterns. Reads all of them. */
export const updatesNaming = (
  db: Db,
  workspaceId: string,
  patterns: readonly string[],
  afterId: string,
  take: number,
  lock: '' | 'for update',
): Promise<UpdateRow[]> =>
  db.rows(
    `select ${columns} from network_updates
     where workspace_id = $1 and id > $3
       and webhook ~ any($2::text[])
     order by id limit $4 ${lock}`,
    [workspaceId, patterns, afterId, take],
  )

export const replaceWebhook = (db: Db, id: string, webhook: string): Promise<number> =>
  db.change('update network_updates set webhook = $2 where id = $1', [id, webhook])
