import { finished } from 'node:stream/promises'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { newProcessState, type ProcessState } from '../lib/process.ts'
import { ChangeNotifier, type ChangeTopic, changeChannel } from './change-notices.ts'
import type { Connection } from './connection.ts'
import { openSession, type Session } from './session.ts'

/**
 * The database, or a transaction in it. Every statement is prepared once per connection and known by its text, so texts
 * are constant and values are parameters.
 */
export interface Db {
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  first<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row | undefined>
  /** How many rows a statement changed. */
  change(text: string, values?: readonly unknown[]): Promise<number>
  /** Rows into a table, as `copy-format.ts` writes them. */
  copy(table: string, columns: readonly string[], bytes: Buffer): Promise<void>
  /** All of it or nothing. Inside of a transaction it is part of that one. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** Done once what was written so far is committed: at the end of the transaction, at once outside of one. */
  afterCommit(work: () => void): void
  /** Once committed, whoever looks at this of the workspace, in any process, knows to ask again. */
  notify(workspaceId: string, topic: ChangeTopic): void
  /** The same for every view of this database and every transaction in it. */
  readonly process: ProcessState
  /** The same database, seen by one workspace: row-level security hides every other workspace's rows. */
  within(workspaceId: string): Db
}

export type { Connection }

export interface Database extends Db {
  /** Text that is not prepared and may hold several statements: migrations. */
  script(text: string): Promise<void>
  session(): Promise<Session>
  /** How the connections are used right now. */
  pools(): { pool: 'all' | 'workspace'; open: number; idle: number; waiting: number }[]
  close(): Promise<void>
}

pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** Which workspace a connection may see: a UUID, or `all` for the loops and the pipeline, which serve every workspace. */
const visibility = 'parley.workspace'

/** How long a statement that a request waits for may take. Loops, and what tends partitions, take as long as it takes. */
const defaultTimeoutMs = 30_000

export function openDatabase(
  connection: Connection,
  onError: (error: Error) => void,
  max = 10,
  timeoutMs = defaultTimeoutMs,
): Database {
  // In a pipeline a statement need not wait for the answer to the one before: what opens a transaction, or says whose rows
  // may be seen, travels along with what it is for.
  const shared = { ...connection, max, idleTimeoutMillis: 30_000, connectionTimeoutMillis: 10_000, pipeline: true }
  // Said by the first statement rather than in the start-up packet, which connection poolers do not pass on.
  const whole = new pg.Pool({ ...shared, verify: seeAll })
  // PostgreSQL ends what takes too long; one that hangs cannot, so a little later we stop waiting ourselves.
  const walled = new pg.Pool({
    ...shared,
    query_timeout: Math.ceil(timeoutMs * 1.2),
    verify: (client, done) => void client.query(`set statement_timeout = ${timeoutMs}`, (error) => done(error)),
  })
  let closing = false
  for (const pool of [whole, walled]) {
    // A pool is done before the last of its connections is; that PostgreSQL stops then is no loss.
    pool.on('error', (error) => {
      if (!closing) onError(error)
    })
    // While `verify` runs the pool does not listen, and an error that nobody listens for would end the process.
    pool.on('connect', (client) => void client.on('error', () => {}))
  }
  const desk = new ChangeNotifier((payload) => whole.query('select pg_notify($1, $2)', [changeChannel, payload]))
  return {
    ...dbOn(
      { desk, process: newProcessState() },
      (work) => work(),
      (work) => borrow(whole, work),
      (workspaceId) => (work) =>
        borrow(walled, (client) =>
          following(
            client.query({
              name: 'within',
              text: `select set_config('${visibility}', $1, false)`,
              values: [workspaceId],
            }),
            () => work(client),
          ),
        ),
    ),
    script: (text) => borrow(whole, async (client) => void (await client.query(text))),
    session: () => openSession(connection),
    pools: () => [useOf('all', whole), useOf('workspace', walled)],
    async close() {
      closing = true
      await desk.close()
      await Promise.all([whole.end(), walled.end()])
    },
  }
}

const useOf = <Name>(pool: Name, { totalCount, idleCount, waitingCount }: pg.Pool) => ({
  pool,
  open: totalCount,
  idle: idleCount,
  waiting: waitingCount,
})

function seeAll(client: pg.PoolClient, done: (error?: Error) => void): void {
  // Planned once: with arrays as parameters PostgreSQL would otherwise plan a batch anew each time, at twice its cost.
  client.query(`set ${visibility} = 'all'; set plan_cache_mode = force_generic_plan`, (error) =>
    done(error ?? undefined),
  )
}

type Borrow = <T>(work: (client: pg.ClientBase) => Promise<T>) => Promise<T>

async function borrow<T>(pool: pg.Pool, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  // The pool listens only while a connection is idle. One that is lost between two statements of a transaction must fail
  // the next of them, not the whole program.
  const onLost = (error: Error) => {
    broken = error
  }
  client.on('error', onLost)
  try {
    return await work(client)
  } catch (error) {
    if (isConnectionFault(error)) broken ??= error as Error
    // The statement after the loss only says that the connection is of no use; why is what a caller can act upon.
    throw broken && /not queryable/.test((error as Error).message) ? broken : error
  } finally {
    client.off('error', onLost)
    client.release(broken)
  }
}

/** Begins work behind a statement that is on its way. What came of the work counts only if the statement succeeded. */
async function following<T>(statement: Promise<unknown>, work: () => Promise<T>): Promise<T> {
  // Awaited below; until then nobody else listens.
  statement.catch(() => {})
  try {
    return await work()
  } finally {
    // Where it failed, that is why the work did.
    await statement
  }
}

/** A statement that PostgreSQL refused leaves the connection sound, unless it says that it is going (57P…). */
function isConnectionFault(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return error.code?.startsWith('57P') === true
  return error instanceof Error && ('errno' in error || /connection|timeout|terminated/i.test(error.message))
}

type AfterCommit = Db['afterCommit']

interface Root {
  desk: ChangeNotifier
  process: ProcessState
}

function dbOn(root: Root, afterCommit: AfterCommit, lend: Borrow, lendWithin: (workspaceId: string) => Borrow): Db {
  const query = <Row extends object>(text: string, values: readonly unknown[] = []) =>
    lend((client) => client.query<Row & pg.QueryResultRow>({ name: nameOf(text), text, values: [...values] }))
  const db: Db = {
    rows: async (text, values) => (await query<never>(text, values)).rows,
    first: async (text, values) => (await query<never>(text, values)).rows[0],
    change: async (text, values) => (await query(text, values)).rowCount ?? 0,
    copy: (table, columns, bytes) =>
      lend(async (client) => {
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
      lend(async (client) => {
        const later: (() => void)[] = []
        let result: Awaited<ReturnType<typeof work>>
        try {
          const inside: Borrow = (use) => use(client)
          const tx: Db = dbOn(root, (each) => void later.push(each), inside, nestedWithin)
          tx.transaction = (nested) => nested(tx)
          result = await following(client.query('begin'), () => work(tx))
          await client.query('commit')
        } catch (error) {
          await client.query('rollback').catch(() => {})
          throw error
        }
        for (const each of later) each()
        return result
      }),
    afterCommit,
    notify: (workspaceId, topic) => afterCommit(() => root.desk.notify(workspaceId, topic)),
    process: root.process,
    within: (workspaceId) => dbOn(root, afterCommit, lendWithin(workspaceId), lendWithin),
  }
  return db
}

function nestedWithin(): never {
  throw new Error('ask for a workspace first and begin the transaction within it')
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
