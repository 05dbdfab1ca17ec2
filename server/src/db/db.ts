import pg from 'pg'

/**
 * The database, or a transaction in it. Every statement is prepared once per connection and known by its text, so texts
 * are constant and values are parameters.
 */
export interface Db {
  rows<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>
  first<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row | undefined>
  /** How many rows a statement changed. */
  change(text: string, values?: readonly unknown[]): Promise<number>
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** The same database, seen by one workspace: row-level security hides every other workspace's rows. */
  within(workspaceId: string): Db
}

export type Connection = pg.ClientConfig

export interface Database extends Db {
  /** Text that is not prepared and may hold several statements: migrations. */
  script(text: string): Promise<void>
  close(): Promise<void>
}

pg.types.setTypeParser(pg.types.builtins.INT8, Number)

/** Which workspace a connection may see: a UUID, or `all` for the loops and the pipeline, which serve every workspace. */
const visibility = 'parley.workspace'

export function openDatabase(connection: Connection, onError: (error: Error) => void, max = 10): Database {
  const shared = { ...connection, max, idleTimeoutMillis: 30_000, connectionTimeoutMillis: 10_000 }
  // Said by the first statement rather than in the start-up packet, which connection poolers do not pass on.
  const whole = new pg.Pool({ ...shared, verify: seeAll })
  const walled = new pg.Pool(shared)
  whole.on('error', onError)
  walled.on('error', onError)
  return {
    ...dbOn(
      (work) => borrow(whole, work),
      (workspaceId) => (work) =>
        borrow(walled, async (client) => {
          await client.query({
            name: 'within',
            text: `select set_config('${visibility}', $1, false)`,
            values: [workspaceId],
          })
          return work(client)
        }),
    ),
    script: (text) => borrow(whole, async (client) => void (await client.query(text))),
    async close() {
      await Promise.all([whole.end(), walled.end()])
    },
  }
}

function seeAll(client: pg.PoolClient, done: (error?: Error) => void): void {
  client.query(`set ${visibility} = 'all'`, (error) => done(error ?? undefined))
}

type Borrow = <T>(work: (client: pg.ClientBase) => Promise<T>) => Promise<T>

async function borrow<T>(pool: pg.Pool, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    return await work(client)
  } catch (error) {
    // A statement that PostgreSQL refused leaves the connection sound; anything else may not have.
    if (!(error instanceof pg.DatabaseError) && isConnectionFault(error)) broken = error as Error
    throw error
  } finally {
    client.release(broken)
  }
}

const isConnectionFault = (error: unknown): boolean =>
  error instanceof Error && ('errno' in error || /connection|timeout|terminated/i.test(error.message))

function dbOn(lend: Borrow, lendWithin: (workspaceId: string) => Borrow): Db {
  const query = <Row extends object>(text: string, values: readonly unknown[] = []) =>
    lend((client) => client.query<Row & pg.QueryResultRow>({ name: nameOf(text), text, values: [...values] }))
  const db: Db = {
    rows: async (text, values) => (await query<never>(text, values)).rows,
    first: async (text, values) => (await query<never>(text, values)).rows[0],
    change: async (text, values) => (await query(text, values)).rowCount ?? 0,
    transaction: (work) =>
      lend(async (client) => {
        await client.query('begin')
        try {
          const inside: Borrow = (use) => use(client)
          const result = await work(dbOn(inside, nestedWithin))
          await client.query('commit')
          return result
        } catch (error) {
          await client.query('rollback').catch(() => {})
          throw error
        }
      }),
    within: (workspaceId) => dbOn(lendWithin(workspaceId), lendWithin),
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
