import { spawnSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import type { Session } from '@parley/server/db/connect/session'
import { type MoveLimits, moveLimits } from '@parley/server/domain/messages/receiving/older-messages'
import {
  insertOthers,
  insertPartitioned,
  lifecycleSeconds,
  type Owners,
  partitionedTables,
  type Slice,
} from './growth-rows.ts'
import { addOlderTables, dropIndexes, fillDatabase, inboundTableOf, inParallel } from './lib/fill.ts'
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
  const bytes = await fillDatabase(scope, dataDir, (part, sessions) =>
    fill(part, sessions, prepared, Math.ceil(events / 4), limits),
  )
  // Otherwise the system would write it during the measurement.
  spawnSync('sync', ['-f', dataDir])
  scope.say(
    `stored ${formatNumber(events)} events in ${((performance.now() - began) / 1000).toFixed(0)} s: ${(bytes / 1024 ** 3).toFixed(2)} GiB`,
  )
  return bytes
}

async function fill(
  scope: Scope,
  [first, second]: readonly [Session, Session],
  prepared: Prepared,
  messages: number,
  limits: MoveLimits,
): Promise<number> {
  const older = await addOlderTables(first, { messages, days, limits })
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
      await run(second, insertOthers(slice, owners, inboundTableOf(older, index, days)))
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
