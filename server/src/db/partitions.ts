import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../telemetry/logger.ts'
import { isLockTimeout } from './connect/brief-transaction.ts'
import type { Session } from './connect/session.ts'
import { databaseNow } from './database-clock.ts'
import type { Database, Db } from './db.ts'

const tables = [
  'request_log',
  'request_errors',
  'request_bodies',
  'refusal_hours',
  'traffic_hours',
  'unauthenticated_minutes',
  'events',
  'delivery_attempts',
  'delivery_hours',
] as const

/** How long the rows of a table are stored if it is less than the retention, in days. */
export type ShorterRetention = Partial<Record<(typeof tables)[number], number>>

/**
 * Held by the process that drops partitions or builds their indexes; the others skip it. Both lock a partition, and a build
 * waits for every earlier statement. If that statement waits for the lock of the build, it is a deadlock.
 */
const partitionLock = 7_215_401

/** Whether this session has the lock now. It ends with the session. */
async function takeLock(session: Session): Promise<boolean> {
  const query = 'select pg_try_advisory_lock($1::bigint) as held'
  const [lock] = await session.rows<{ held: boolean }>(query, [partitionLock])
  return lock?.held === true
}

const daysAhead = 7
const dayMs = 86_400_000

/** Days are in UTC, whatever the time zone of this process. */
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/**
 * For a process that starts: returns when today's partitions exist. The loop that calls `ensurePartitions` creates the
 * partitions of other days.
 */
export async function ensureToday(db: Db, clock: Clock): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const today = dayOf((await databaseNow(db, clock)).getTime())
    if ((await tablesMissingDays(db, today, today)).length === 0) return
    try {
      await ensurePartitions(db, clock)
    } catch (error) {
      if (!isLockTimeout(error) || attempt === 20) throw error
      await sleep(250)
    }
  }
}

/**
 * Creates the partitions from yesterday to some days ahead. It takes no lock that blocks readers or writers: each
 * partition is created as a separate table and then attached. If another transaction alters the table, it gives up
 * after 500 ms.
 */
export async function ensurePartitions(db: Db, clock: Clock, ahead = daysAhead): Promise<void> {
  const now = (await databaseNow(db, clock)).getTime()
  const first = dayOf(now - dayMs)
  for (const name of await tablesMissingDays(db, first, dayOf(now + ahead * dayMs))) {
    await db.rows('select ensure_days($1, $2::date, $3)', [name, first, ahead + 2])
  }
}

export async function tablesMissingDays(db: Db, first: string, last: string): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(
    `select distinct name from unnest($1::text[]) as t(name),
       generate_series($2::date, $3::date, interval '1 day') as day
     where to_regclass(format('%I', name || '_' || to_char(day, 'YYYYMMDD'))) is null order by name`,
    [tables, first, last],
  )
  return rows.map(({ name }) => name)
}

/**
 * Detaches expired partitions, without locking the table, and drops the partitions that an earlier run detached: by
 * then, no query plan uses them. Detaching waits for readers that started before it, but only for a second. After that
 * the partition already counts as detached, and the next run completes it.
 */
export async function dropOldPartitions(
  db: Database,
  clock: Clock,
  log: Logger,
  retentionDays: number,
  shorter: ShorterRetention = {},
): Promise<void> {
  // First, because it may wait for a connection of the pool, and the session must not be idle for long.
  const now = (await databaseNow(db, clock)).getTime()
  const session = await db.session()
  try {
    if (!(await takeLock(session))) return
    // A process that is frozen here loses its session, and with it the lock.
    await session.rows(`set lock_timeout = '1s'; set idle_session_timeout = '5s'`)
    for (const table of tables) {
      const before = dayOf(now - Math.min(retentionDays, shorter[table] ?? retentionDays) * dayMs)
      await dropBefore(session, table, before, log).catch((error: unknown) => {
        if (isLockTimeout(error)) {
          log.info({ event: 'partition.drop_postponed', table }, 'an expired partition is in use and is dropped later')
        } else log.error({ event: 'partition.drop_failed', table, err: error }, 'dropping an expired partition failed')
      })
    }
  } finally {
    await session.close()
  }
}

/**
 * Builds the indexes that a migration created on the whole table only (`create index … on only`), for each partition, without
 * blocking writes. Partitions that are attached later get them by themselves.
 */
export async function indexPartitions(db: Database, log: Logger): Promise<void> {
  if ((await findMissingIndexes(db)).length === 0) return
  const session = await db.session()
  try {
    if (!(await takeLock(session))) return
    await session.rows(`set idle_session_timeout = '5s'`)
    // Another process may have built some until this one got the lock.
    let missing = await findMissingIndexes(session)
    for (let tries = 1; missing.length > 0; tries++) {
      for (const each of missing) {
        await indexPartition(session, each, log).catch((error: unknown) => {
          if (tries === maxTries || !mayPass(error)) throw error
        })
      }
      missing = await findMissingIndexes(session)
    }
  } finally {
    await session.close()
  }
}

const maxTries = 3

/** A deadlock with another statement, for example ANALYZE, or the partition was detached or dropped. */
const mayPass = (error: unknown): boolean =>
  ['40P01', '55000', '42P01'].includes((error as { code?: string }).code ?? '')

async function indexPartition(session: Session, missing: MissingIndex, log: Logger): Promise<void> {
  const { index, partition, definition } = missing
  const name = `${partition}_${index.slice(index.indexOf('_') + 1)}`
  // An earlier try may have built it and not got the lock to attach it. A build can take many minutes.
  const built = await session.rows(
    `select from pg_index where indexrelid = to_regclass($1) and indisvalid
       and split_part(pg_get_indexdef(indexrelid), ' USING ', 2) = split_part($2, ' USING ', 2)`,
    [name, definition],
  )
  if (built.length === 0) {
    // Building waits for transactions that began before it.
    await session.rows(`set lock_timeout = '60s'`)
    // Left by a process that was stopped, or by an earlier try.
    await session.rows(`drop index concurrently if exists ${name}`)
    await session.rows(definition.replace(/ INDEX \S+ ON ONLY \S+ /, ` INDEX CONCURRENTLY ${name} ON ${partition} `))
  }
  // Everyone who reads or writes the partition waits behind this lock.
  await session.rows(`set lock_timeout = '2s'`)
  await session.rows(`alter index ${index} attach partition ${name}`)
  log.info({ event: 'partition.indexed', partition, index }, 'built an index of a partition')
}

interface MissingIndex {
  index: string
  partition: string
  definition: string
}

/** The newest partitions first: they are in use. */
const findMissingIndexes = (db: Pick<Session, 'rows'>): Promise<MissingIndex[]> =>
  db.rows(
    `select i.relname as index, p.relname as partition, pg_get_indexdef(i.oid) as definition
     from pg_index x join pg_class i on i.oid = x.indexrelid
     join pg_inherits h on h.inhparent = x.indrelid and not h.inhdetachpending join pg_class p on p.oid = h.inhrelid
     where not x.indisvalid and i.relkind = 'I' and i.relnamespace = current_schema()::regnamespace
       and not exists (select from pg_index c join pg_inherits a on a.inhrelid = c.indexrelid
         where c.indrelid = p.oid and a.inhparent = i.oid)
     order by p.relname desc`,
  )

interface OldPartition {
  name: string
  /** Null once it is detached; `pending` if detaching started and did not complete. */
  attached: 'attached' | 'pending' | null
}

async function dropBefore(session: Session, table: string, before: string, log: Logger): Promise<void> {
  const old = await session.rows<OldPartition>(
    `select c.relname as name,
       case when i.inhrelid is null then null when i.inhdetachpending then 'pending' else 'attached' end as attached
     from pg_class c left join pg_inherits i on i.inhrelid = c.oid and i.inhparent = $1::regclass
     where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace and c.relname ~ ('^' || $1 || '_\\d{8}$')
       and right(c.relname, 8) < $2
     -- PostgreSQL detaches no other partition while one is pending.
     order by i.inhdetachpending desc nulls last, c.relname`,
    [table, before.replaceAll('-', '')],
  )
  for (const { name, attached } of old) {
    if (attached !== null) {
      const how = attached === 'pending' ? 'finalize' : 'concurrently'
      await session.rows(`alter table ${table} detach partition ${name} ${how}`)
    } else {
      await session.rows(`drop table ${name}`)
      log.info({ event: 'partition.dropped', partition: name }, 'dropped an expired partition')
    }
  }
}
