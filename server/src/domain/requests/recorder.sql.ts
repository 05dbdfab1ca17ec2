import { batchId, newBatchSql } from '../../db/batch-writer.ts'
import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'
import type { KeyUse } from '../../http/access-check.ts'
import { dayOf, type RecordedBatch } from './recorded-batch.ts'

const contents = ['at', 'request_id', 'workspace_id', 'target']
const columns = {
  request_log: 'at id workspace_id key_id method route status code duration_us address user_agent'.split(' '),
  request_errors: [...contents, 'response', 'response_state'],
  request_bodies: [...contents, 'request', 'request_state', 'response', 'response_state'],
}

/**
 * Writes everything of a batch in one transaction, once: a repetition changes nothing. The counts come last, because other
 * processes wait for their rows until the commit. They are in order, so that two processes cannot deadlock.
 */
export async function writeBatch(
  db: Db,
  batch: RecordedBatch,
  saveUses: (tx: Db, uses: readonly KeyUse[]) => Promise<unknown>,
): Promise<void> {
  const { traffic, uses } = batch.counts
  const day = nameOf(batch.day)
  const days = new Set([batch.day, ...traffic.map(({ hour }) => dayOf(hour))])
  for (const each of days) await ensureDay(db, nameOf(each))
  await db.transaction(async (tx) => {
    if ((await newBatch.change(tx, { writer: batch.id?.writer, batch: batch.id?.batch })) === 0) return
    const copy = (table: keyof typeof columns, bytes: Buffer) =>
      // Into the partition: PostgreSQL does not support COPY into a table with row-level security.
      tx.copy(`${table}_${day}`, columns[table], bytes)
    if (batch.size > 0) await copy('request_log', batch.log.finish())
    if (batch.contentsBytes > 0) {
      await copy('request_errors', batch.errorContents.finish())
      await copy('request_bodies', batch.bodyContents.finish())
    }
    const { errors, unauthenticated } = batch
    if (errors.length > 0) await errorCount.change(tx, { errors })
    if (traffic.length > 0 || errors.length > 0) await trafficCount.change(tx, { traffic, errors })
    if (unauthenticated.length > 0) await unauthenticatedCount.change(tx, { unauthenticated })
    if (uses.length > 0) await saveUses(tx, uses)
  })
}

/** Creates the partitions of a day that was not prepared, so that every request is logged, whatever its time. */
async function ensureDay(db: Db, day: string): Promise<void> {
  const [found] = await db.rows<{ exist: boolean }>(
    `select bool_and(to_regclass(name || '_' || $1) is not null) as exist from unnest($2::text[]) as name`,
    [day, dailyTables],
  )
  if (found?.exist) return
  await db.rows('select ensure_days(name, $1::date, 1) from unnest($2::text[]) as name', [day, dailyTables])
}

/** A day as in the names of partitions. */
const nameOf = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')

const dailyTables = [...Object.keys(columns), 'refusal_hours', 'traffic_hours', 'unauthenticated_minutes']

const newBatch = statement(batchId, newBatchSql)

const errorCount = statement(
  { errors: { at: 'timestamptz', workspaceId: 'uuid', code: 'text', keyId: 'uuid', address: 'text' } },
  ({ errors }) => `insert into refusal_hours as h (hour, workspace_id, code, key_id, address, count, first_at, last_at)
     select date_trunc('hour', at, 'UTC'), workspace_id, code, key_id, address, count(*), min(at), max(at)
     from ${errors}
     group by 1, 2, 3, 4, 5 order by 2, 3, 1, 4, 5
     on conflict (workspace_id, code, hour, key_id, address) do update set
       count = h.count + excluded.count,
       first_at = least(h.first_at, excluded.first_at),
       last_at = greatest(h.last_at, excluded.last_at)`,
)

const trafficCount = statement(
  {
    traffic: { hour: 'timestamptz', workspaceId: 'uuid', keyId: 'uuid', count: 'int' },
    errors: { at: 'timestamptz', workspaceId: 'uuid', keyId: 'uuid', code: 'text' },
  },
  ({ traffic, errors }) => `insert into traffic_hours as h (hour, workspace_id, key_id, code, count)
     select hour, workspace_id, key_id, null, count from ${traffic}
     union all
     select date_trunc('hour', at, 'UTC'), workspace_id, key_id, code, count(*) from ${errors} group by 1, 2, 3, 4
     order by 2, 1, 3, 4
     on conflict (workspace_id, hour, key_id, code) do update set count = h.count + excluded.count`,
)

const unauthenticatedCount = statement(
  {
    unauthenticated: {
      minute: 'timestamptz',
      code: 'text',
      client: 'text',
      count: 'int',
      logged: 'int',
      firstAt: 'timestamptz',
      lastAt: 'timestamptz',
    },
  },
  ({ unauthenticated }) => `insert into unauthenticated_minutes as m (${unauthenticated.columns})
     select * from ${unauthenticated} order by minute, code, client
     on conflict (minute, code, client) do update set
       count = m.count + excluded.count,
       logged = m.logged + excluded.logged,
       first_at = least(m.first_at, excluded.first_at),
       last_at = greatest(m.last_at, excluded.last_at)`,
)
