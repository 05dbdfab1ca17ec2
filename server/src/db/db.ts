import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { newProcessState, type ProcessState } from '../lib/process.ts'
import { ChangeNotifier, type ChangeTopic, changeChannel } from './change-notices.ts'
import type { Connection } from './connection.ts'
import { backgroundLimits, hardLimitMs, type Limits, limitSettings, requestLimits } from './limits.ts'
import { type Borrow, newPool } from './pool.ts'
import { connectClient, ReadOnlyServer, type ServerClient, Servers } from './server-client.ts'
import { newSession, type Session } from './session.ts'
import { findIdle, SilenceWatch } from './silence-watch.ts'
import { shareByWorkspace } from './workspace-share.ts'

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
  /** Runs `work` after the commit of this transaction, or immediately outside a transaction. */
  afterCommit(work: () => void): void
  /** After the commit, notifies every process that `topic` has changed in this workspace. */
  notify(workspaceId: string, topic: ChangeTopic): void
  /** In-memory state that all transactions and all `within` views of this database share. */
  readonly process: ProcessState
  /** The same database limited to one workspace: row-level security hides the rows of all others. */
  within(workspaceId: string): Db
}

export type { Connection }

export interface Database extends Db {
  /** Runs text that may contain several statements, without preparing it. For migrations. */
  script(text: string): Promise<void>
  session(): Promise<Session>
  /** Whether a writable server responds. If the server of this process is read-only, its connections are dropped. */
  isWritable(): Promise<boolean>
  /** The current use of the connection pools. */
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
): Database {
  const servers = new Servers(connection)
  const sessions = new Set<ServerClient>()
  let closing = false

  /** After one connection led nowhere, the others probably do too: they are replaced before their next use. */
  function distrustAll(error: Error): void {
    servers.generation++
    for (const client of sessions) client.destroy(error)
  }

  const watch = new SilenceWatch(
    (pids) => findIdle(servers, pids),
    (error) => {
      distrustAll(error)
      if (!closing) onError(error)
    },
  )

  // A pool reports closed before its last connection is. Errors after that do not matter.
  const pool = (limits: Limits, ...settings: string[]) =>
    newPool({
      servers,
      watch,
      max,
      limits,
      settings,
      onReadOnly: distrustAll,
      onLost: (error) => closing || onError(error),
    })
  // Use generic plans. With array parameters PostgreSQL would otherwise plan every batch again, which doubles its cost.
  const all = pool(backgroundLimits, `set ${workspaceSetting} = 'all'`, 'set plan_cache_mode = force_generic_plan')
  const workspace = pool(within)
  const borrowFor = shareByWorkspace(workspace.borrow, max)
  const notifier = new ChangeNotifier((payload) =>
    all.borrow((client) => client.query('select pg_notify($1, $2)', [changeChannel, payload])),
  )
  return {
    ...dbOn(
      { notifier, process: newProcessState() },
      (work) => work(),
      all.borrow,
      (workspaceId) => (work) =>
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
    ),
    script: (text) => all.borrow(async (client) => void (await client.query(text))),
    async session() {
      const client = await connectClient(servers, limitSettings(backgroundLimits))
      sessions.add(client)
      client.once('end', () => sessions.delete(client))
      return newSession(client, async (run) => {
        watch.start(client, hardLimitMs(backgroundLimits))
        try {
          return await run()
        } finally {
          watch.stop(client)
        }
      })
    },
    isWritable: () =>
      all
        .borrow(async (client) => {
          const { rows } = await client.query(`select current_setting('transaction_read_only') = 'on' as read_only`)
          if (rows[0].read_only) throw new ReadOnlyServer()
          return true
        })
        .catch(() => false),
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
  process: ProcessState
}

function dbOn(
  root: Root,
  afterCommit: AfterCommit,
  borrowClient: Borrow,
  borrowWithin: (workspaceId: string) => Borrow,
): Db {
  const query = <Row extends object>(text: string, values: readonly unknown[] = []) =>
    borrowClient((client) => client.query<Row & pg.QueryResultRow>({ name: nameOf(text), text, values: [...values] }))
  const db: Db = {
    rows: async (text, values) => (await query<never>(text, values)).rows,
    first: async (text, values) => (await query<never>(text, values)).rows[0],
    change: async (text, values) => (await query(text, values)).rowCount ?? 0,
    copy: (table, columns, bytes) =>
      borrowClient(async (client) => {
        const inPipeline = client as pg.ClientBase & { pipeline: boolean }
        inPipeline.pipeline = false
        try {
          const stream = client.query(copyFrom(`copy ${table} (${columns.join(', ')}) from stdin (format binary)`))
          stream.end(bytes)
          await finished(stream)
        } finally {
          inPipeline.pipeline = true
        }
      }),
    transaction: (work) =>
      borrowClient(async (client) => {
        const later: (() => void)[] = []
        let result: Awaited<ReturnType<typeof work>>
        try {
          const inside: Borrow = (use) => use(client)
          const tx: Db = dbOn(root, (each) => void later.push(each), inside, nestedWithin)
          tx.transaction = (nested) => nested(tx)
          result = await pipelined(client.query('begin'), () => work(tx))
          await client.query('commit')
        } catch (error) {
          await client.query('rollback').catch(() => {})
          throw error
        }
        for (const each of later) each()
        return result
      }),
    afterCommit,
    notify: (workspaceId, topic) => afterCommit(() => root.notifier.notify(workspaceId, topic)),
    process: root.process,
    within: (workspaceId) => dbOn(root, afterCommit, borrowWithin(workspaceId), borrowWithin),
  }
  return db
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
