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

/**
 * Tables whose rows belong to no workspace. A new table either has row-level security or is listed here with the
 * reason.
 */
const sharedTables = new Set([
  'migrations', // the applied migrations
  'migration_progress', // the steps of the migration that runs
  'access_revision', // one number
  'routing_revision', // one number
  'batch_writers', // one number per writer of a process
  'event_epoch', // the epoch of the database server in the order of events
  'maintenance_owner', // the process that does the maintenance
  'maintenance_steps', // the last run of each step of it
  'health_samples', // the state of the installation over time
  'clock_marks', // the latest times read from the database's clock
  'content_removals', // how far the removal of old contents is
  'budget_windows', // counts by key id or address
  'unauthenticated_minutes', // counts by address, of requests that belong to no workspace
  'apps', // the installation's Meta apps, which workspaces share
  'unknown_numbers', // of accounts that no workspace has connected
  'prices', // set by the operator, the same for every workspace
  'people', // a person may be a member of several workspaces
  'backup_codes', // of people
  'passkeys', // of people
  'sessions', // of people
  'challenges', // of people who are signing in
  'sign_in_tries', // by a hash of the email address
  'failed_sign_ins', // of people
  'account_tries', // of people
  'mail_choices', // of people
  'mail_counts', // by a hash of the email address or the workspace
  'sending_holds', // by sender, connection or app; only the sending loop reads them
])

/**
 * The rows of tables that inherit from these have no policies in a query of these. Only the function search_ids reads them, for the
 * workspace that it is given: see docs/project/decisions/search.md. architecture.test.ts checks that no other code does.
 */
const withoutPolicies = ['search_forms', 'search_inbound', 'search_messages', 'search_orders']

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

// Uses the database that the migration tests fill: every table has rows of two workspaces.
describe('row-level security', () => {
  let connection: Connection
  let db: Database
  let close = async () => {}
  /** Every table that is not shared, with all of its rows. */
  let tables: (TableRows & { owner: string })[]
  let ourId: string
  let theirId: string

  beforeAll(async () => {
    const created = await newEmptyDatabase()
    connection = created.connection
    db = openDatabase(connection, () => {}, 2)
    close = async () => {
      await db.close()
      await created.drop()
    }
    await fillDatabase(connection)
    const all = await readTables(connection)
    tables = all
      .filter(({ name }) => !sharedTables.has(name) && !withoutPolicies.includes(name))
      .map((table) => ({ ...table, owner: table.workspaceColumn ?? 'has no workspace column' }))
    const workspaces = all.find(({ name }) => name === 'workspaces')
    ;[ourId = '', theirId = ''] = workspaces?.rows.map(({ id }) => String(id)) ?? []
  })
  afterAll(() => close())

  const rowsOf = (table: (typeof tables)[number], workspaceId: string) =>
    table.rows.filter((row) => row[table.owner] === workspaceId)

  test('every table has test rows of two workspaces, or is listed as shared', () => {
    const missingRows = tables.filter((table) => [ourId, theirId].some((id) => rowsOf(table, id).length === 0))
    expect(missingRows.map(({ name, owner }) => `${name}: ${owner}`)).toEqual([])
    expect(tables.length).toBeGreaterThan(20)
  })

  test('is enabled and forced for the owner too, and partitions cannot be accessed directly', async () => {
    const relations = await db.rows<{
      name: string
      partition: boolean
      guarded: boolean
      readable: boolean
      changeable: boolean
    }>(
      `select relname as name, relispartition as partition, relrowsecurity and relforcerowsecurity as guarded,
         has_table_privilege(c.oid, 'select, update, delete') as readable,
         has_table_privilege(c.oid, 'insert, update, delete, truncate') as changeable
       from pg_class c
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and (relname = 'workspaces' or exists (
         select from pg_attribute where attrelid = c.oid and attname = 'workspace_id' and not attisdropped))`,
    )
    // Partitions are written by COPY, which does not work with row-level security. So our role may do nothing else with them.
    const unprotected = relations.filter(({ partition, guarded, readable }) => (partition ? readable : !guarded))
    expect(unprotected.map(({ name }) => name).toSorted()).toEqual(withoutPolicies)
    expect(unprotected.filter(({ changeable }) => changeable)).toEqual([])
    const parents = relations
      .filter(({ name, partition }) => !partition && !withoutPolicies.includes(name))
      .map(({ name }) => name)
    expect(parents.toSorted()).toEqual(tables.map(({ name }) => name).toSorted())
    expect(relations.length).toBeGreaterThan(parents.length)
  })

  test('returns no rows without a workspace, or with an unknown one', async () => {
    const client = new pg.Client(connection)
    await client.connect()
    onTestFinished(() => client.end())
    for (const { name } of tables) {
      expect((await client.query(`select 1 from "${name}"`)).rowCount, name).toBe(0)
      for (const unknown of ['', 'ALL', newUuid(), `${ourId} `]) {
        expect(await db.within(unknown).rows(`select 1 from "${name}"`), `${name} for "${unknown}"`).toEqual([])
      }
    }
  })

  test('returns exactly the rows of the current workspace', async () => {
    for (const table of tables) {
      const visible = await db.within(ourId).rows<{ row: object }>(`select to_jsonb(t) as row from "${table.name}" t`)
      const texts = (rows: object[]) => rows.map((row) => JSON.stringify(row)).toSorted()
      expect(texts(visible.map(({ row }) => row)), table.name).toEqual(texts(rowsOf(table, ourId)))
    }
  })

  test('does not allow updating, deleting or inserting rows of another workspace', async () => {
    const within = db.within(ourId)
    for (const { name, owner, columns, rows } of tables) {
      const theirRows = `where ${owner} = '${theirId}'`
      for (const change of [`update "${name}" set ${owner} = ${owner}`, `delete from "${name}"`]) {
        const changing = within.change(`${change} ${theirRows}`)
        // The audit log cannot be changed at all.
        if (name === 'audit_entries') await expect(changing).rejects.toThrow(/permission denied/)
        else expect(await changing, name).toBe(0)
      }
      const transfer = within.change(`update "${name}" set ${owner} = '${theirId}'`)
      await expect(transfer, `transferring rows of ${name}`).rejects.toThrow(
        /row-level security|are never changed|permission denied/,
      )
      const list = columns.map((column) => `"${column}"`).join()
      const insert = within.change(
        `insert into "${name}" (${list}) overriding system value
         select ${list} from jsonb_populate_record(null::"${name}", $1)`,
        [JSON.stringify(rows.find((row) => row[owner] === theirId))],
      )
      await expect(insert, `inserting a row into ${name}`).rejects.toThrow(/row-level security/)
    }
    const after = new Map((await readTables(connection)).map(({ name, rows }) => [name, rows]))
    for (const { name, rows } of tables) expect(after.get(name), name).toEqual(rows)
  })
})

test('a pooled connection does not keep the workspace of its last query', async () => {
  const results = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const workspace = index % 2 === 0 ? ours : theirs
      const rows = await server.db.within(workspace.id).rows<{ id: string }>('select id from workspaces')
      return rows.length === 1 && rows[0]?.id === workspace.id
    }),
  )
  expect(results).toEqual(Array(60).fill(true))
})

test('GET /v1/webhook lists only the endpoints of the workspace', async () => {
  server.clock.forward({ seconds: 1 })
  const { webhook } = await createWebhook(server.db, server.clock, server.secretKeys, anyTarget, {
    workspaceId: theirs.id,
    name: 'only theirs',
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

/** Every id in rows of the other workspace, with each prefix that the API uses. */
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

test('every route responds to an id of another workspace exactly as to an unknown one', async () => {
  const ids = await theirIds()
  expect(ids.length).toBeGreaterThan(10)
  const { secret } = await ours.newKey()
  const maskedResponse = async (path: string, method: string, id: string) => {
    server.clock.forward({ minutes: 1 })
    const { status, body } = await server.call(path.replaceAll(/:\w+/g, id), { key: secret, method })
    return `${status} ${JSON.stringify(body)}`.replaceAll(id, '<id>').replaceAll(/req_[0-9a-f-]+/g, 'req_')
  }
  for (const { path, method } of routes.filter((route) => route.path.includes('/:'))) {
    const unknown = new Map<string, string>()
    for (const id of ids) {
      const prefix = id.slice(0, -36)
      const expected = unknown.get(prefix) ?? (await maskedResponse(path, method, prefix + newUuid()))
      unknown.set(prefix, expected)
      expect(await maskedResponse(path, method, id), `${method} ${path} ${id}`).toBe(expected)
    }
  }
  for (const { path, method } of routes.filter((route) => !route.path.includes('/:') && route.method === 'GET')) {
    const text = JSON.stringify((await server.call(path, { key: secret, method })).body)
    for (const id of ids) expect(text.includes(id), `${path} shows ${id}`).toBe(false)
  }
})
