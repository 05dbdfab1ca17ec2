import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { newEmptyDatabase } from '../../../testing/database.ts'
import { anyTarget } from '../../../testing/deliveries.ts'
import { fillDatabase, readTables, type TableRows } from '../../../testing/filled-database.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { routes } from '../../api.ts'
import { type Connection, type Database, openDatabase } from '../../db/db.ts'
import { isUuid, newUuid } from '../../lib/ids.ts'
import { createWebhook } from '../webhooks/webhooks.ts'

const server = useTestServer()
let ours: TestWorkspace
let theirs: TestWorkspace

/** Tables whose rows belong to no workspace. A new table either has a wall or is named here, with why. */
const common = new Set([
  'migrations', // which files were applied
  'access_revision', // one number
  'routing_revision', // one number
  'clock_marks', // when the database's clock was last seen
  'budget_windows', // counts by key id or address
  'apps', // the installation's Meta apps, which workspaces share
  'prices', // the operator's, the same for every workspace
  'people', // who signs in; they may belong to several workspaces
  'backup_codes', // of people
  'passkeys', // of people
  'sessions', // of people
  'challenges', // of people, while they sign in
  'sign_in_tries', // by a digest of an e-mail address
  'sending_holds', // by sender, connection or app; only the sending loop reads them
])

beforeAll(async () => {
  ours = await newWorkspace(server, 'Ours')
  theirs = await newWorkspace(server, 'Theirs')
  for (const { id } of [ours, theirs]) {
    const input = { workspaceId: id, name: 'hook', url: 'https://example.com/hook', events: ['message.received'] }
    await createWebhook(server.db, server.clock, server.secretKeys, anyTarget, input)
  }
  for (const workspace of [ours, theirs]) {
    await workspace.call('/v1/me')
    await workspace.call('/v1/nothing')
  }
  await server.api.flush()
})

/** A database in which every table has rows of two workspaces, as the tests of the migrations fill it. */
describe('in every table', () => {
  let connection: Connection
  let db: Database
  let close = async () => {}
  /** Every table that is not common, with all of its rows. */
  let tables: (TableRows & { owner: string })[]
  let mine: string
  let others: string

  beforeAll(async () => {
    const made = await newEmptyDatabase()
    connection = made.connection
    db = openDatabase(connection, () => {}, 2)
    close = async () => {
      await db.close()
      await made.drop()
    }
    await fillDatabase(connection)
    const all = await readTables(connection)
    tables = all
      .filter(({ name }) => !common.has(name))
      .map((table) => ({ ...table, owner: table.workspaceColumn ?? 'no column says whose a row is' }))
    const workspaces = all.find(({ name }) => name === 'workspaces')
    ;[mine = '', others = ''] = workspaces?.rows.map(({ id }) => String(id)) ?? []
  })
  afterAll(() => close())

  const rowsOf = (table: (typeof tables)[number], workspaceId: string) =>
    table.rows.filter((row) => row[table.owner] === workspaceId)

  test('there are rows of two workspaces; a new table needs some, or is named as common', () => {
    const bare = tables.filter((table) => [mine, others].some((id) => rowsOf(table, id).length === 0))
    expect(bare.map(({ name, owner }) => `${name}: ${owner}`)).toEqual([])
    expect(tables.length).toBeGreaterThan(20)
  })

  test('row-level security is on, for the owner as well, and partitions are read through their table alone', async () => {
    const relations = await db.rows<{ name: string; partition: boolean; guarded: boolean; readable: boolean }>(
      `select relname as name, relispartition as partition, relrowsecurity and relforcerowsecurity as guarded,
         has_table_privilege(c.oid, 'select, update, delete') as readable
       from pg_class c
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and (relname = 'workspaces' or exists (
         select from pg_attribute where attrelid = c.oid and attname = 'workspace_id' and not attisdropped))`,
    )
    // COPY, which writes into partitions, takes no table with row-level security: to those nobody has access but by it.
    const open = relations.filter(({ partition, guarded, readable }) => (partition ? readable : !guarded))
    expect(open.map(({ name }) => name)).toEqual([])
    const whole = relations.filter(({ partition }) => !partition).map(({ name }) => name)
    expect(whole.toSorted()).toEqual(tables.map(({ name }) => name).toSorted())
    expect(relations.length).toBeGreaterThan(whole.length)
  })

  test('a connection that names no workspace, or none that there is, sees no row', async () => {
    const client = new pg.Client(connection)
    await client.connect()
    onTestFinished(() => client.end())
    for (const { name } of tables) {
      expect((await client.query(`select 1 from "${name}"`)).rowCount, name).toBe(0)
      for (const stranger of ['', 'ALL', newUuid(), `${mine} `]) {
        expect(await db.within(stranger).rows(`select 1 from "${name}"`), `${name} for "${stranger}"`).toEqual([])
      }
    }
  })

  test('within a workspace there are its rows and no others', async () => {
    for (const table of tables) {
      const seen = await db.within(mine).rows<{ row: object }>(`select to_jsonb(t) as row from "${table.name}" t`)
      const texts = (rows: object[]) => rows.map((row) => JSON.stringify(row)).toSorted()
      expect(texts(seen.map(({ row }) => row)), table.name).toEqual(texts(rowsOf(table, mine)))
    }
  })

  test('within a workspace no row of another can be changed, deleted or put', async () => {
    const within = db.within(mine)
    for (const { name, owner, columns, rows } of tables) {
      const theirRows = `where ${owner} = '${others}'`
      expect(await within.change(`update "${name}" set ${owner} = ${owner} ${theirRows}`), name).toBe(0)
      expect(await within.change(`delete from "${name}" ${theirRows}`), name).toBe(0)
      const give = within.change(`update "${name}" set ${owner} = '${others}'`)
      await expect(give, `giving away rows of ${name}`).rejects.toThrow(/row-level security|are never changed/)
      const list = columns.map((column) => `"${column}"`).join()
      const put = within.change(
        `insert into "${name}" (${list}) overriding system value
         select ${list} from jsonb_populate_record(null::"${name}", $1)`,
        [JSON.stringify(rows.find((row) => row[owner] === others))],
      )
      await expect(put, `putting a row into ${name}`).rejects.toThrow(/row-level security/)
    }
    const after = new Map((await readTables(connection)).map(({ name, rows }) => [name, rows]))
    for (const { name, rows } of tables) expect(after.get(name), name).toEqual(rows)
  })
})

test('a connection that served one workspace does not carry over to the next', async () => {
  const names = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const workspace = index % 2 === 0 ? ours : theirs
      const rows = await server.db.within(workspace.id).rows<{ id: string }>('select id from workspaces')
      return rows.length === 1 && rows[0]?.id === workspace.id
    }),
  )
  expect(names).toEqual(Array(60).fill(true))
})

test('GET /v1/webhook shows the workspace’s own endpoints', async () => {
  server.clock.forward({ seconds: 1 })
  const { webhook } = await createWebhook(server.db, server.clock, server.secretKeys, anyTarget, {
    workspaceId: theirs.id,
    name: 'theirs alone',
    url: 'https://theirs.example.com/',
    events: ['flow.completed'],
  })
  const mine = await ours.call('/v1/webhook')
  expect(mine.body).toMatchObject({ object: 'list', total: 1, has_more: false, next_cursor: null })
  expect(JSON.stringify(mine.body)).not.toContain('theirs')
  const their = (await theirs.call('/v1/webhook')).body as { data: unknown[]; total: number }
  expect(their.total).toBe(2)
  expect(their.data[0]).toEqual(webhook)
})

/** Ids of the other workspace, by the table they come from, as they stand on the wire. */
async function theirIds(): Promise<string[]> {
  const prefixes = ['', 'msg_', 'snd_', 'tpl_', 'whk_', 'frs_']
  const ids = new Set<string>([theirs.id])
  for (const { rows, workspaceColumn = '' } of await readTables(server.connection)) {
    for (const row of rows.filter((each) => each[workspaceColumn] === theirs.id)) {
      for (const value of Object.values(row)) if (typeof value === 'string' && isUuid(value)) ids.add(value)
    }
  }
  return [...ids].flatMap((id) => prefixes.map((prefix) => prefix + id))
}

test('every route answers another workspace’s id just as one that never was', async () => {
  const ids = await theirIds()
  expect(ids.length).toBeGreaterThan(10)
  const { secret } = await ours.newKey()
  const masked = async (path: string, method: string, id: string) => {
    server.clock.forward({ minutes: 1 })
    const { status, body } = await server.call(path.replaceAll(/:\w+/g, id), { key: secret, method })
    return `${status} ${JSON.stringify(body)}`.replaceAll(id, '<id>').replaceAll(/req_[0-9a-f-]+/g, 'req_')
  }
  for (const { path, method } of routes.filter((route) => route.path.includes('/:'))) {
    const unknown = new Map<string, string>()
    for (const id of ids) {
      const prefix = id.slice(0, -36)
      const wanted = unknown.get(prefix) ?? (await masked(path, method, prefix + newUuid()))
      unknown.set(prefix, wanted)
      expect(await masked(path, method, id), `${method} ${path} ${id}`).toBe(wanted)
    }
  }
  for (const { path, method } of routes.filter((route) => !route.path.includes('/:') && route.method === 'GET')) {
    const text = JSON.stringify((await server.call(path, { key: secret, method })).body)
    for (const id of ids) expect(text.includes(id), `${path} shows ${id}`).toBe(false)
  }
})
