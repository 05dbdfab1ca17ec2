import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { newProcessState, type ProcessState } from '../lib/process.ts'
import { ChangeNotifier, type ChangeTopic, changeChannel } from './change-notices.ts'
import type { Connection } from './connection.ts'
import { openSession, type Session } from './session.ts'

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
  /** The current use of the connection pools. */
  pools(): { pool: 'all' | 'workspace'; open: number; idle: number; waiting: number }[]
  close(): Promise<void>
}

pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** The workspace that a connection may see: its UUID, or `all` for background loops and the request pipeline. */
const workspaceSetting = 'parley.workspace'

/** The limit for statements that a request waits for. Background loops have no limit. */
const defaultTimeoutMs = 30_000

export function openDatabase(
  connection: Connection,
  onError: (error: Error) => void,
  max = 10,
  timeoutMs = defaultTimeoutMs,
): Database {
  // With pipelining, a statement is sent before the response to the one before it has arrived. So `begin` and the
  // workspace setting cost no extra round trip.
  const shared = { ...connection, max, idleTimeoutMillis: 30_000, connectionTimeoutMillis: 10_000, pipeline: true }
  // The setting is the first statement and not in the startup packet, because connection poolers drop it there.
  const allPool = new pg.Pool({ ...shared, verify: configureForAll })
  // PostgreSQL cancels slow statements at `statement_timeout`. If it hangs, `query_timeout` ends the wait a little later.
  const workspacePool = new pg.Pool({
    ...shared,
    query_timeout: Math.ceil(timeoutMs * 1.2),
    verify: (client, done) => void client.query(`set statement_timeout = ${timeoutMs}`, (error) => done(error)),
  })
  let closing = false
  for (const pool of [allPool, workspacePool]) {
    // The pool reports closed before its last connection is. Errors after that do not matter.
    pool.on('error', (error) => {
      if (!closing) onError(error)
    })
    // While `verify` runs, the pool has no error listener, and an unhandled error event would end the process.
    pool.on('connect', (client) => void client.on('error', () => {}))
  }
  const notifier = new ChangeNotifier((payload) => allPool.query('select pg_notify($1, $2)', [changeChannel, payload]))
  return {
    ...dbOn(
      { notifier, process: newProcessState() },
      (work) => work(),
      (work) => borrow(allPool, work),
      (workspaceId) => (work) =>
        borrow(workspacePool, (client) =>
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
    script: (text) => borrow(allPool, async (client) => void (await client.query(text))),
    session: () => openSession(connection),
    pools: () => [usageOf('all', allPool), usageOf('workspace', workspacePool)],
    async close() {
      closing = true
      await notifier.close()
      await Promise.all([allPool.end(), workspacePool.end()])
    },
  }
}

const usageOf = <Name>(pool: Name, { totalCount, idleCount, waitingCount }: pg.Pool) => ({
  pool,
  open: totalCount,
  idle: idleCount,
  waiting: waitingCount,
})

function configureForAll(client: pg.PoolClient, done: (error?: Error) => void): void {
  // Use generic plans. With array parameters PostgreSQL would otherwise plan every batch again, which doubles its cost.
  client.query(`set ${workspaceSetting} = 'all'; set plan_cache_mode = force_generic_plan`, (error) =>
    done(error ?? undefined),
  )
}

type Borrow = <T>(work: (client: pg.ClientBase) => Promise<T>) => Promise<T>

async function borrow<T>(pool: pg.Pool, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  // The pool only listens for errors of idle connections. If a connection is lost between two statements of a
  // transaction, the next statement must fail, not the process.
  const onLost = (error: Error) => {
    broken = error
  }
  client.on('error', onLost)
  try {
    return await work(client)
  } catch (error) {
    if (isConnectionError(error)) broken ??= error as Error
    // The next statement only fails with "not queryable". Throw the error that broke the connection instead.
    throw broken && /not queryable/.test((error as Error).message) ? broken : error
  } finally {
    client.off('error', onLost)
    client.release(broken)
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

/** An error from PostgreSQL leaves the connection usable, except 57P…, which means that the server is shutting down. */
function isConnectionError(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code?.startsWith('57P') === true
  return error instanceof Error && ('errno' in error || /connection|timeout|terminated/i.test(error.message))
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
