import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { type Actor, recordAuditEntry, system } from './audit.ts'
import { exportAudit, toAuditQuery } from './console.ts'

const server = useTestServer()

const actor = (name: string): Actor => ({ personId: null, name, address: '192.0.2.1', userAgent: null })

/** A workspace with one entry each minute. */
async function setUp() {
  const workspace = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  server.clock.forward({ minutes: 1 })
  const from = server.clock.now().toISOString()
  const record = async (who: Actor, action: string, target: string) => {
    await recordAuditEntry(server.db, server.clock, who, { action, workspaceId: workspace.id, target })
    server.clock.forward({ minutes: 1 })
    return server.clock.now().toISOString()
  }
  const second = await record(actor('ana@example.com'), 'key.create', 'k1')
  await record(actor('ana@example.com'), 'key.revoke', 'k1')
  const fourth = await record(actor('bo@example.com'), 'webhook.create', 'w1')
  await record(system, 'webhook.disable', '=cmd()')
  const call = (query: string) => admin.call(`/w/${workspace.id}/audit${query}`)
  const actions = async (query: string) => {
    const since = query.includes('from=') ? '' : `from=${from}&`
    return (await call(`?${since}${query}`)).body.data.map(({ action }: { action: string }) => action).reverse()
  }
  return { workspace, admin, from, second, fourth, call, actions }
}

test('entries are filtered by several people and actions, by target and by time', async () => {
  const { actions, second, fourth } = await setUp()
  const all = ['key.create', 'key.revoke', 'webhook.create', 'webhook.disable']
  for (const [query, expected] of [
    ['', all],
    ['actor=ana@example.com', all.slice(0, 2)],
    ['actor=bo@example.com,system', all.slice(2)],
    ['actor=ana', []],
    ['action=key.create,webhook.disable', [all[0], all[3]]],
    ['action=webhook', all.slice(2)],
    ['action=key,webhook.create', all.slice(0, 3)],
    ['action=web', []],
    ['action=%25', []],
    ['target=k1', all.slice(0, 2)],
    ['actor=ana@example.com,bo@example.com&action=key.revoke,webhook', [all[1], all[2]]],
    [`from=${second}`, all.slice(1)],
    [`to=${second}`, all.slice(0, 1)],
    [`from=${second}&to=${fourth}`, all.slice(1, 3)],
  ] as const) {
    expect(await actions(query), query).toEqual(expected)
  }
})

test.each(['from=yesterday', 'to=2026-13-01T00:00Z', 'actor=', 'limit=101', 'color=red'])(
  '%s gets 400',
  async (query) => {
    const { call } = await setUp()
    expect((await call(`?${query}`)).status).toBe(400)
  },
)

test('an entry has the name of its person as it is now, and keeps the email address', async () => {
  const { admin, call } = await setUp()
  await admin.call('/account', { method: 'PATCH', body: { name: 'Ada Lovelace' } })
  await call('.csv')
  const { data } = (await call('?action=data.export')).body
  expect(data).toMatchObject([{ actor: admin.email, actor_name: 'Ada Lovelace' }])
  expect((await call('?actor=system')).body.data[0].actor_name).toBeNull()
})

test('the export applies the filters, escapes formulas, and is audited', async () => {
  const { call } = await setUp()
  const { status, body } = await call('.csv?action=webhook')
  expect(status).toBe(200)
  const lines = (body as string).trim().split('\r\n')
  expect(lines[0]).toBe('at,actor,actor_name,action,target,target_name,before,after,address,user_agent')
  expect(lines.slice(1).map((line) => line.split(',')[3])).toEqual(['webhook.disable', 'webhook.create'])
  expect(lines[1]).toContain(",'=cmd(),")
  const { data } = (await call('?action=data.export')).body
  expect(data[0].after).toMatchObject({ action: 'webhook' })
})

test('an export that is too long says so in its last line; one of exactly that length does not', async () => {
  const { workspace } = await setUp()
  const read = async (maxRows: number) => {
    const query = toAuditQuery({ action: 'key,webhook' })
    const pieces = []
    for await (const piece of exportAudit(
      { namesOf: async () => new Map() },
      server.db,
      workspace.id,
      query,
      maxRows,
    )) {
      pieces.push(piece)
    }
    return pieces.join('').trim().split('\r\n')
  }
  expect(await read(4)).toHaveLength(5)
  const cut = await read(3)
  expect(cut).toHaveLength(5)
  expect(cut.at(-1)).toContain('Truncated after 3 rows.')
})

test('developers, members and people of other workspaces see nothing', async () => {
  const { workspace } = await setUp()
  const other = await newWorkspace(server)
  for (const [workspaceId, role, status] of [
    [workspace.id, 'developer', 403],
    [workspace.id, 'member', 403],
    [other.id, 'admin', 404],
  ] as const) {
    const person = await signedIn(server, { workspaceId, role })
    for (const path of ['audit', 'audit/facets', 'audit.csv']) {
      expect((await person.call(`/w/${workspace.id}/${path}`)).status, `${role} ${path}`).toBe(status)
    }
  }
})
