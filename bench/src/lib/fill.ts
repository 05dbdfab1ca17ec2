/** Fills the database of an installation that is not running, faster than the service would. */

import type { Session } from '@parley/server/db/connect/session'
import { type Database, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { type MoveLimits, recentDays } from '@parley/server/domain/messages/receiving/older-messages'
import type { Scope } from './scope.ts'

/** A row of inbound_messages, without indexes. */
const bytesPerInbound = 420

/** Nothing has to survive a crash while it is filled. With `minimal`, a new table is not logged at all. */
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

/** Runs `fill` with two connections. They are the service's user, and rows are not checked against the rows that they refer to. */
export const fillDatabase = <T>(
  scope: Scope,
  dataDir: string,
  fill: (part: Scope, sessions: readonly [Session, Session]) => Promise<T>,
): Promise<T> =>
  scope.part(async (part) => {
    const embedded = await openEmbedded({ dataDir, purpose: 'visitor', settings })
    part.defer(() => embedded.close())
    const admin = { ...embedded.admin, database: embedded.connection.database }
    const db = openDatabase(admin, () => {}, 2)
    part.defer(() => db.close())
    const { user } = embedded.connection
    return fill(part, [await newSession(part, db, user), await newSession(part, db, user)])
  })

async function newSession(scope: Scope, db: Database, user: string): Promise<Session> {
  const session = await db.session()
  scope.defer(() => session.close())
  await session.rows(
    `set session_replication_role = replica; set statement_timeout = 0; set role ${user}; set parley.workspace = 'all'`,
  )
  return session
}

/** Adds the tables of older messages that the service would have added for this many inbound messages of `days` days. */
export async function addOlderTables(
  session: Session,
  { messages, days, limits }: { messages: number; days: number; limits: MoveLimits },
): Promise<string[]> {
  const older = messages * bytesPerInbound > limits.recentBytes ? (messages * (days - recentDays)) / days : 0
  const count = Math.ceil((older * bytesPerInbound) / limits.olderBytes)
  for (let added = 0; added < count; added++) await session.rows('select add_older_inbound_messages()')
  return Array.from({ length: count }, (_, index) => `inbound_messages_older_${index + 1}`)
}

/** The table of the inbound messages of a day; 0 is the oldest. */
export const inboundTableOf = (older: readonly string[], day: number, days: number): string =>
  (day < days - recentDays ? older[Math.floor((day * older.length) / (days - recentDays))] : undefined) ??
  'inbound_messages'

/** Returns the statements that create each index again. */
export async function dropIndexes(session: Session, tables: readonly string[]): Promise<string[][]> {
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
export async function inParallel(sessions: readonly Session[], groups: string[][]): Promise<void> {
  await Promise.all(
    sessions.map(async (session) => {
      for (let group = groups.shift(); group; group = groups.shift()) for (const text of group) await session.rows(text)
    }),
  )
}
