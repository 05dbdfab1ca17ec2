import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { isDiskError } from '../lib/disk.ts'
import { newTelemetry, type Telemetry } from '../telemetry/telemetry.ts'
import type { Connection } from './connect/connection.ts'
import { DiskWatch } from './connect/disk-watch.ts'
import {
  backgroundLimits,
  hardLimitMs,
  type Limits,
  limitSettings,
  requestLimits,
  type Settings,
  setText,
} from './connect/limits.ts'
import { type Borrow, newPool } from './connect/pool.ts'
import { connectClient, ReadOnlyServer, type ServerClient, Servers } from './connect/server-client.ts'
import { newSession, type Session } from './connect/session.ts'
import { findIdle, lookEveryMs, SilenceWatch } from './connect/silence-watch.ts'
import { StalePlan } from './connect/stale-plan.ts'
import { shareByWorkspace } from './connect/workspace-share.ts'
import { ChangeNotifier, type ChangeTopic, changeChannel } from './notices/change-notices.ts'
import type { Subscribers } from './topic.ts'
import { directly, throughPooler, type Use } from './use.ts'

/**
 * The database, or a transaction in it. Each connection prepares a statement once and finds it by its text, so the text
 * must be constant and values must be parameters.
 */
export interface Db {
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  first<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row | undefined>
  /** Returns how many rows the statement changed. */
  change(text: string, values?: readonly unknown[]): Promise<number>
  /** Inserts rows in the COPY format that `copy-format.ts` writes. */
  copy(table: string, columns: readonly string[], bytes: Buffer): Promise<void>
  /** Runs `work` in a transaction. Inside a transaction, it becomes part of that one. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * A transaction in one round trip: `begin`, the statements of `work` and `commit` are sent together. So `work` must send all
   * of its statements before it waits for one of them. If it fails before it has sent all statements, the sent ones are
   * committed.
   */
  transactionAtOnce<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * Runs `work` after the commit of this transaction, or immediately outside a transaction. If it returns a promise, the
   * transaction resolves after that, and has returned its connection by then.
   */
  afterCommit(work: () => void | Promise<void>): void
  /** After the commit, notifies every process that `topic` has changed in this workspace. */
  notify(workspaceId: string, topic: ChangeTopic): void
  readonly telemetry: Telemetry
  /** See `topic.ts`. */
  readonly subscribers: Subscribers
  /** The same database limited to one workspace: row-level security hides the rows of all others. */
  within(workspaceId: string): Db
}

export type { Connection }

export interface Database extends Db {
  /** Runs text that may contain several statements, without preparing it. */
  script(text: string): Promise<void>
  session(): Promise<Session>
  /**
   * Why the database cannot be written; null if it can. If the server of this process is read-only, its connections are dropped.
   * After a statement has failed because of the disk, this tries to write, until that succeeds.
   */
  whyNotWritable(): Promise<string | null>
  pools(): { pool: 'all' | 'workspace'; open: number; idle: number; waiting: number }[]
  close(): Promise<void>
}

pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** The workspace that a connection may see: its UUID, or `all` for background loops and the request pipeline. */
const workspaceSetting = 'parley.workspace'

export function openDatabase(
  connection: Connection,
  onError: (error: Error) => void,
  /** The connections of each of the two pools. */
  max = 10,
  within: Limits = requestLimits,
  silenceLookMs: number = lookEveryMs,
): Database {
  const servers = new Servers(connection)
  const isPooled = connection.direct !== undefined
  const direct = connection.direct ? new Servers(connection.direct) : servers
  const sessions = new Set<ServerClient>()
  let closing = false

  /** After one connection led nowhere, the others probably do too: they are replaced before their next use. */
  function distrustAll(error: Error): void {
    servers.generation++
    for (const client of sessions) client.destroy(error)
  }

  const disk = new DiskWatch(onError)
  const watch = new SilenceWatch(
    (pids) => findIdle(direct, pids),
    (error) => {
      distrustAll(error)
      if (!closing) onError(error)
    },
    silenceLookMs,
  )

  // A pool reports closed before its last connection is. Errors after that do not matter.
  const pool = (limits: Limits, settings: Settings) =>
    newPool({
      servers,
      watch,
      max,
      maxMs: hardLimitMs(limits),
      // A pooler would pass them on to others.
      setUp: isPooled ? '' : setText(settings),
      onReadOnly: distrustAll,
      onDiskError: (error) => disk.failed(error),
      onLost: (error) => closing || onError(error),
    })
  const allSettings = {
    [workspaceSetting]: 'all',
    // Use generic plans. With array parameters PostgreSQL would otherwise plan every batch again, which doubles its cost.
    plan_cache_mode: 'force_generic_plan',
    ...limitSettings(backgroundLimits),
  }
  const all = pool(backgroundLimits, allSettings)
  const workspace = pool(within, limitSettings(within))
  const useAll = isPooled ? throughPooler(all.borrow, allSettings) : directly(all.borrow)
  const borrowFor = shareByWorkspace(workspace.borrow, max)
  const useWithin = (workspaceId: string): Use =>
    isPooled
      ? throughPooler(borrowFor(workspaceId), { [workspaceSetting]: uuidOf(workspaceId), ...limitSettings(within) })
      : directly((work) =>
          borrowFor(workspaceId)((client) =>
            pipelined(
              client.query({
                name: 'within',
                text: `select set_config('${workspaceSetting}', $1, false)`,
                values: [workspaceId],
              }),
              () => work(client),
            ),
          ),
        )
  const notifier = new ChangeNotifier((payload) =>
    useAll.single((client) => client.query('select pg_notify($1, $2)', [changeChannel, payload])),
  )
  async function session(): Promise<Session> {
    const client = await connectClient(direct, setText(limitSettings(backgroundLimits)))
    sessions.add(client)
    client.once('end', () => sessions.delete(client))
    // Statements of a session may wait behind each other. It is in use from the first to the last.
    let running = 0
    return newSession(client, async (run) => {
      if (running++ === 0) watch.start(client, hardLimitMs(backgroundLimits))
      try {
        return await run()
      } finally {
        if (--running === 0) watch.stop(client)
      }
    })
  }
  const db = dbOn({ notifier, telemetry: newTelemetry(), subscribers: new Map() }, (work) => work(), useAll, useWithin)
  return {
    ...db,
    script: (text) => useAll.single(async (client) => void (await client.query(text))),
    session,
    async whyNotWritable() {
      try {
        await useAll.single(async (client) => {
          const { rows } = await client.query(`select current_setting('transaction_read_only') = 'on' as read_only`)
          if (rows[0].read_only) throw new ReadOnlyServer()
        })
      } catch (error) {
        if (!isDiskError(error)) return notResponding
      }
      return (await disk.isFull(() => writeSegment(db))) ? 'The disk of the database is full, or fails.' : null
    },
    pools: () => [
      { pool: 'all', ...all.usage() },
      { pool: 'workspace', ...workspace.usage() },
    ],
    async close() {
      closing = true
      await notifier.close()
      await Promise.all([all.close(), workspace.close()])
      watch.close()
    },
  }
}

export const notResponding = 'The database does not respond, or is read-only.'

/** Writes as much as a segment of the WAL, in the tablespace of the database. Nothing of it is kept. */
const writeSegment = (db: Db): Promise<unknown> =>
  db.transaction(async (tx) => {
    await tx.rows(`select set_config('temp_tablespaces', '', true)`)
    await tx.rows(
      `create temporary table disk_check on commit drop as select repeat('x', 1000) from generate_series(1, 16000)`,
    )
  })

/** It becomes part of a text, so it must not end the literal. */
function uuidOf(workspaceId: string): string {
  if (!/^[0-9a-f-]*$/i.test(workspaceId)) throw new Error('not the ID of a workspace')
  return workspaceId
}

/** Starts `work` without waiting for a statement that was sent before it. Fails if the statement fails. */
async function pipelined<T>(statement: Promise<unknown>, work: () => Promise<T>): Promise<T> {
  // It is awaited below. Until then a rejection must not count as unhandled.
  statement.catch(() => {})
  try {
    return await work()
  } finally {
    // If the statement failed, its error explains why the work failed.
    await statement
  }
}

type AfterCommit = Db['afterCommit']

interface Root {
  notifier: ChangeNotifier
  telemetry: Telemetry
  subscribers: Subscribers
}

function dbOn(root: Root, afterCommit: AfterCommit, use: Use, useWithin: (workspaceId: string) => Use): Db {
  const queryOnce = <Row extends object>(text: string, values: readonly unknown[]) =>
    use.single((client) =>
      client.query<Row & pg.QueryResultRow>({ name: use.prepares ? nameOf(text) : '', text, values: [...values] }),
    )
  // Only outside a transaction is this error thrown here. Inside, the whole transaction fails with it.
  const query = <Row extends object>(text: string, values: readonly unknown[] = []) =>
    queryOnce<Row>(text, values).catch((error: unknown) => {
      if (error instanceof StalePlan) return queryOnce<Row>(text, values)
      throw error
    })
  function newTransaction(client: pg.ClientBase) {
    const later: Parameters<AfterCommit>[0][] = []
    let hasEnded = false
    const end = () => {
      hasEnded = true
    }
    // If one part of the work has failed, another one may still run. The connection is not its own any more.
    const lend: Borrow = (run) => (hasEnded ? Promise.reject(new Error('the transaction has ended')) : run(client))
    const tx: Db = dbOn(
      root,
      (each) => void later.push(each),
      { ...directly(lend), prepares: use.prepares },
      nestedWithin,
    )
    tx.transaction = (nested) => nested(tx)
    tx.transactionAtOnce = tx.transaction
    return {
      tx,
      end,
      async commit() {
        end()
        // If an error of a statement was not thrown on, PostgreSQL rolls back instead, and says so without an error.
        const { command } = await client.query('commit')
        if (command !== 'COMMIT')
          throw new Error('the transaction was rolled back, because one of its statements failed')
      },
      /** Returns what the transaction has to wait for. */
      runLater: () => later.map((each) => each()).filter((each) => each !== undefined),
    }
  }
  const db: Db = {
    rows: async (text, values) => (await query<never>(text, values)).rows,
    first: async (text, values) => (await query<never>(text, values)).rows[0],
    change: async (text, values) => (await query(text, values)).rowCount ?? 0,
    copy: (table, columns, bytes) =>
      // A COPY cannot be sent together with its `begin` and `commit`.
      use.single === use.borrow
        ? use.borrow((client) =>
            copyTo(client, `copy ${table} (${columns.join(', ')}) from stdin (format binary)`, bytes),
          )
        : db.transaction((tx) => tx.copy(table, columns, bytes)),
    transaction: (work) =>
      use
        .borrow(async (client) => {
          const inside = newTransaction(client)
          let result: Awaited<ReturnType<typeof work>>
          try {
            result = await pipelined(use.begin(client), () => work(inside.tx))
            await inside.commit()
          } catch (error) {
            inside.end()
            await client.query('rollback').catch(() => {})
            throw error
          }
          return { result, waits: inside.runLater() }
        })
        .then(resultOf),
    transactionAtOnce: (work) =>
      use
        .borrow(async (client) => {
          const inside = newTransaction(client)
          const start = async () => work(inside.tx)
          const { stream } = (client as pg.ClientBase & { connection: pg.Connection }).connection
          // One write for all of them.
          stream.cork()
          const sent = [use.begin(client), start(), inside.commit()] as const
          stream.uncork()
          // The connection is returned when all have ended. The first error is the cause of the others.
          await Promise.allSettled(sent)
          const [, result] = await Promise.all(sent)
          return { result, waits: inside.runLater() }
        })
        .then(resultOf),
    afterCommit,
    notify: (workspaceId, topic) => afterCommit(() => root.notifier.notify(workspaceId, topic)),
    telemetry: root.telemetry,
    subscribers: root.subscribers,
    within: (workspaceId) => dbOn(root, afterCommit, useWithin(workspaceId), useWithin),
  }
  return db
}

/** The result of a transaction, once that does not have to wait any more. */
const resultOf = async <T>({ result, waits }: { result: T; waits: Promise<void>[] }): Promise<T> => {
  await Promise.all(waits)
  return result
}

async function copyTo(client: pg.ClientBase, text: string, bytes: Buffer): Promise<void> {
  const inPipeline = client as pg.ClientBase & { pipeline: boolean }
  inPipeline.pipeline = false
  try {
    const stream = client.query(copyFrom(text))
    stream.end(bytes)
    await finished(stream)
  } finally {
    inPipeline.pipeline = true
  }
}

function nestedWithin(): never {
  throw new Error('call within() first, then start the transaction on its result')
}

const names = new Map<string, string>()

function nameOf(text: string): string {
  let name = names.get(text)
  if (name === undefined) {
    name = `s${names.size}`
    names.set(text, name)
  }
  return name
}
