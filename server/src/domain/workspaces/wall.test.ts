import pg from 'pg'
import { beforeAll, expect, test } from 'vitest'
import { anyTarget } from '../../../testing/deliveries.ts'
import { useHouse } from '../../../testing/house.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { routes } from '../../api.ts'
import { newUuid } from '../../lib/ids.ts'
import { createWebhook } from '../webhooks/webhooks.ts'

const house = useHouse()
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
  ours = await newWorkspace(house, 'Ours')
  theirs = await newWorkspace(house, 'Theirs')
  for (const { id } of [ours, theirs]) {
    const wish = { workspaceId: id, name: 'hook', url: 'https://example.com/hook', events: ['message.received'] }
    await createWebhook(house.db, house.clock, house.secretKeys, anyTarget, wish)
  }
  for (const workspace of [ours, theirs]) {
    await workspace.call('/v1/me')
    await workspace.call('/v1/nothing')
  }
  await house.api.flush()
})

/** Tables that have rows of both workspaces here. */
const filled = ['workspaces', 'api_keys', 'key_usage', 'webhooks', 'request_log', 'refusal_hours']

interface Table {
  name: string
  kind: 'whole' | 'partition'
  owner: string
}

const tables = async (): Promise<Table[]> =>
  (
    await house.db.rows<Table>(
      `select c.relname as name, case when c.relispartition then 'partition' else 'whole' end as kind,
         case c.relname when 'workspaces' then 'id' else 'workspace_id' end as owner
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = 'public' and c.relkind in ('r', 'p') order by 1`,
    )
  ).filter(({ name }) => !common.has(name))

test('a connection that does not say whose rows it may see, sees none of any table', async () => {
  const client = new pg.Client(house.connection)
  await client.connect()
  const seen: string[] = []
  const all = await tables()
  for (const { name, kind } of all) {
    const rows = await client.query(`select * from "${name}"`).then(
      (result) => result.rowCount,
      (error: Error) => error.message,
    )
    const shut = kind === 'partition' ? `permission denied for table ${name}` : 0
    if (rows !== shut) seen.push(`${name}: ${rows}`)
  }
  await client.end()
  expect(seen).toEqual([])
  expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(filled))
})

test('within a workspace there are its rows and no other’s, in every table', async () => {
  for (const { name, owner, kind } of await tables()) {
    if (kind === 'partition') continue
    const seen = await house.db.within(ours.id).rows<{ owner: string }>(`select ${owner}::text as owner from "${name}"`)
    if (filled.includes(name)) expect(seen.length, `own rows of ${name}`).toBeGreaterThan(0)
    expect(
      seen.filter((row) => row.owner !== ours.id),
      name,
    ).toEqual([])
    for (const stranger of ['', 'ALL', newUuid(), `${ours.id} `]) {
      expect(await house.db.within(stranger).rows(`select 1 from "${name}"`), name).toEqual([])
    }
  }
})

test('within a workspace nothing of another can be changed, deleted or put', async () => {
  const within = house.db.within(ours.id)
  for (const { name, owner, kind } of await tables()) {
    if (kind === 'partition') continue
    const theirRows = `where ${owner} = '${theirs.id}'`
    const count = () => house.db.first(`select count(*) from "${name}" ${theirRows}`)
    const before = await count()
    expect(await within.change(`update "${name}" set ${owner} = ${owner} ${theirRows}`), name).toBe(0)
    expect(await within.change(`delete from "${name}" ${theirRows}`), name).toBe(0)
    if (filled.includes(name)) {
      const give = within.change(`update "${name}" set ${owner} = '${theirs.id}'`)
      await expect(give, name).rejects.toThrow(/row-level security/)
    }
    expect(await count(), name).toEqual(before)
  }
  const key = `insert into api_keys (id, workspace_id, name, digest, hint, scopes, budget, created_by, created_at)
    values ('${newUuid()}', '${theirs.id}', 'k', '\\x00', '', '{}', 30, '', now())`
  await expect(within.change(key)).rejects.toThrow(/row-level security/)
})

test('a connection that served one workspace does not carry over to the next', async () => {
  const names = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const workspace = index % 2 === 0 ? ours : theirs
      const rows = await house.db.within(workspace.id).rows<{ id: string }>('select id from workspaces')
      return rows.length === 1 && rows[0]?.id === workspace.id
    }),
  )
  expect(names).toEqual(Array(60).fill(true))
})

test('GET /v1/webhook shows the workspace’s own endpoints', async () => {
  house.clock.forward({ seconds: 1 })
  const { webhook } = await createWebhook(house.db, house.clock, house.secretKeys, anyTarget, {
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
  for (const { name, owner, kind } of await tables()) {
    if (kind === 'partition') continue
    const columns = await house.db.rows<{ column_name: string }>(
      `select column_name from information_schema.columns where table_name = $1 and data_type = 'uuid'`,
      [name],
    )
    for (const { column_name: column } of columns) {
      const rows = await house.db.rows<{ id: string }>(
        `select distinct "${column}"::text as id from "${name}" where ${owner} = '${theirs.id}' and "${column}" is not null`,
      )
      for (const { id } of rows) ids.add(id)
    }
  }
  return [...ids].flatMap((id) => prefixes.map((prefix) => prefix + id))
}

test('every route answers another workspace’s id just as one that never was', async () => {
  const ids = await theirIds()
  expect(ids.length).toBeGreaterThan(10)
  const { secret } = await ours.newKey()
  const masked = async (path: string, method: string, id: string) => {
    house.clock.forward({ minutes: 1 })
    const { status, body } = await house.call(path.replaceAll(/:\w+/g, id), { key: secret, method })
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
    const text = JSON.stringify((await house.call(path, { key: secret, method })).body)
    for (const id of ids) expect(text.includes(id), `${path} shows ${id}`).toBe(false)
  }
})
