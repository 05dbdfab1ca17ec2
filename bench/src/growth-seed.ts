import { spawnSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { type Database, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import type { Session } from '@parley/server/db/session'
import { type MoveLimits, moveLimits, recentDays } from '@parley/server/domain/messages/receiving/older-messages'
import {
  insertOthers,
  insertPartitioned,
  lifecycleSeconds,
  type Owners,
  partitionedTables,
  type Slice,
} from './growth-rows.ts'
import type { Prepared } from './lib/prepare.ts'
import type { Scope } from './lib/scope.ts'
import { formatNumber } from './lib/table.ts'

/** The retention of events, in days. Today has as many messages as any other day. */
const days = 30
const dayMs = 86_400_000
/** Measured, with all rows and indexes of an event. */
const bytesPerEvent = 1_700
/** For write-ahead log, and what the measurement adds. */
const spareBytes = 6 * 1024 ** 3
/** A row of inbound_messages, without indexes. */
const bytesPerInbound = 420

/** Large tables. Their indexes are created after the rows, which is faster, and gives the same indexes. */
const largeTables = ['events', 'delivery_attempts', 'request_log', 'messages', 'inbound_messages', 'credit_entries']

export const bytesFor = (events: number): number => events * bytesPerEvent + spareBytes

/** Fails if the disk is too small for these events. */
export function requireDisk(folder: string, events: number): void {
  const { bavail, bsize } = statfsSync(folder)
  const [needed, free] = [bytesFor(events), bavail * bsize].map((bytes) => (bytes / 1024 ** 3).toFixed(0))
  if (bavail * bsize >= bytesFor(events)) return
  throw new Error(
    `${formatNumber(events)} events need ${needed} GiB of disk, and ${folder} has ${free} GiB. Set BENCH_EVENTS to fewer, or TMPDIR to another disk.`,
  )
}

/**
 * Fills an installation that is not running as if the events of thirty days had happened: four events for each message. The
 * rows are inserted day by day, in the order of time, by two connections. Returns the size of the database in bytes.
 */
export async function seedEvents(
  scope: Scope,
  dataDir: string,
  prepared: Prepared,
  events: number,
  limits: MoveLimits = moveLimits,
): Promise<number> {
  const began = performance.now()
  const bytes = await scope.part(async (part) => {
    // Nothing has to survive a crash while it is filled. With `minimal`, a new table is not logged at all.
    const settings = {
      fsync: 'off',
      full_page_writes: 'off',
      wal_level: 'minimal',
      max_wal_senders: '0',
      autovacuum: 'off',
      max_wal_size: '4GB',
      checkpoint_timeout: '1h',
      maintenance_work_mem: '1GB',
    }
    const embedded = await openEmbedded({ dataDir, purpose: 'visitor', settings })
    part.defer(() => embedded.close())
    const admin = { ...embedded.admin, database: embedded.connection.database }
    const db = openDatabase(admin, () => {}, 2)
    part.defer(() => db.close())
    return fill(part, db, embedded.connection.user, prepared, Math.ceil(events / 4), limits)
  })
  // Otherwise the system would write it during the measurement.
  spawnSync('sync', ['-f', dataDir])
  scope.say(
    `stored ${formatNumber(events)} events in ${((performance.now() - began) / 1000).toFixed(0)} s: ${(bytes / 1024 ** 3).toFixed(2)} GiB`,
  )
  return bytes
}

async function fill(
  scope: Scope,
  db: Database,
  user: string,
  prepared: Prepared,
  messages: number,
  limits: MoveLimits,
): Promise<number> {
  const [first, second] = [await newSession(scope, db, user), await newSession(scope, db, user)]
  const olderMessages = messages * bytesPerInbound > limits.recentBytes ? (messages * (days - recentDays)) / days : 0
  const older = await addOlderTables(first, Math.ceil((olderMessages * bytesPerInbound) / limits.olderBytes))
  const indexes = await dropIndexes(first, [...largeTables, ...older])
  const owners = ownersOf(prepared)
  const slices = slicesOf(messages)
  const run = async (session: Session, statements: readonly string[]) => {
    await session.rows('begin')
    for (const text of statements) await session.rows(text)
    await session.rows('commit')
  }
  const insertDays = async () => {
    for (const [index, slice] of slices.entries()) {
      const ensure = partitionedTables.map(
        (table) => `select ensure_days('${table}', '${slice.start.slice(0, 10)}', 1)`,
      )
      // In the transaction of the rows, so that they are not logged.
      await run(first, [...ensure, ...insertPartitioned(slice, owners)])
      if (index % 10 === 9) scope.say(`day ${index + 1} of ${slices.length}`)
    }
  }
  const insertRest = async () => {
    for (const [index, slice] of slices.entries()) {
      const isOlder = older.length > 0 && index < days - recentDays
      const inbound = isOlder ? older[Math.floor((index * older.length) / (days - recentDays))] : undefined
      await run(second, insertOthers(slice, owners, inbound ?? 'inbound_messages'))
    }
  }
  await Promise.all([insertDays(), insertRest()])
  scope.say(`creating ${indexes.length} indexes`)
  await inParallel([first, second], [...indexes])
  // In thirty days, autovacuum would have done this.
  const tables = [...largeTables, 'message_statuses', 'delivery_hours', 'traffic_hours', 'credit_days']
  await inParallel(
    [first, second],
    tables.map((table) => [`vacuum (analyze) ${table}`]),
  )
  await first.rows('reset role')
  await first.rows('checkpoint')
  const [size] = await first.rows<{ bytes: string }>('select pg_database_size(current_database()) as bytes')
  return Number(size?.bytes)
}

const ownersOf = ({ workspaces }: Prepared): Owners => ({
  workspaces: workspaces.map(({ id }) => id),
  senders: workspaces.map(({ senderId }) => senderId),
  webhooks: workspaces.map(({ webhookId }) => webhookId),
  keys: workspaces.map(({ keys }) => keys[0]?.id ?? ''),
})

/** As the service's user, which owns what is created, without checking that each row refers to rows that exist. */
async function newSession(scope: Scope, db: Database, user: string): Promise<Session> {
  const session = await db.session()
  scope.defer(() => session.close())
  await session.rows(
    `set session_replication_role = replica; set statement_timeout = 0; set role ${user}; set parley.workspace = 'all'`,
  )
  return session
}

/** One for each day, the oldest first. */
function slicesOf(messages: number): Slice[] {
  const today = Math.floor(Date.now() / dayMs) * dayMs
  return Array.from({ length: days }, (_, index) => {
    const startMs = today - (days - 1 - index) * dayMs
    const ms = Math.min(dayMs, Date.now() - startMs) - lifecycleSeconds * 1000
    const [from, until] = [index, index + 1].map((each) => Math.floor((messages * each) / days)) as [number, number]
    return { from, until, start: new Date(startMs).toISOString(), seconds: Math.max(1, ms / 1000) }
  }).filter(({ from, until }) => until > from)
}

/** Returns the names of the tables of older messages. */
async function addOlderTables(session: Session, count: number): Promise<string[]> {
  for (let added = 0; added < count; added++) await session.rows('select add_older_inbound_messages()')
  return Array.from({ length: count }, (_, index) => `inbound_messages_older_${index + 1}`)
}

/** Returns the statements that create each index again. */
async function dropIndexes(session: Session, tables: readonly string[]): Promise<string[][]> {
  const rows = await session.rows<{ table: string; name: string; definition: string; isConstraint: boolean }>(
    `select indrelid::regclass::text as table, indexrelid::regclass::text as name,
       pg_get_indexdef(indexrelid) as definition, exists (select from pg_constraint where conindid = indexrelid) as "isConstraint"
     from pg_index where indrelid = any($1::text[]::regclass[]) and not indisprimary`,
    [tables],
  )
  for (const { table, name, isConstraint } of rows) {
    await session.rows(isConstraint ? `alter table ${table} drop constraint ${name}` : `drop index ${name}`)
  }
  return rows.map(({ table, name, definition, isConstraint }) => [
    // Of a partitioned table, for all partitions.
    definition.replace(' ON ONLY ', ' ON '),
    ...(isConstraint ? [`alter table ${table} add constraint ${name} unique using index ${name}`] : []),
  ])
}

/** Runs groups of statements, each group on the first session that is free. */
async function inParallel(sessions: readonly Session[], groups: string[][]): Promise<void> {
  await Promise.all(
    sessions.map(async (session) => {
      for (let group = groups.shift(); group; group = groups.shift()) for (const text of group) await session.rows(text)
    }),
  )
}
