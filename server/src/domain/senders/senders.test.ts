import type { Sender } from '@parley/contract/sender'
import { expect, test } from 'vitest'
import { useSimulator } from '../../../testing/simulated-network.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { createConnection } from '../connections/connections.ts'

const server = useTestServer()
const network = useSimulator(server)

type Listed = { data: Sender[]; total: number; has_more: boolean; next_cursor: string | null }

test('GET /v1/senders lists the numbers of a connected account', async () => {
  const workspace = await newWorkspace(server)
  await network.demoAccount().connect(workspace)
  const { body } = await workspace.call('/v1/senders?order=asc')
  const { data, ...rest } = body as Listed
  expect(rest).toEqual({ object: 'list', total: 2, total_is_exact: true, has_more: false, next_cursor: null })
  const common = { object: 'sender', status: 'CONNECTED', quality_rating: 'GREEN' }
  expect(data.toSorted((left, right) => left.phone_number.localeCompare(right.phone_number))).toMatchObject([
    { ...common, phone_number: '15550780001', display_name: 'Harbour Clinic' },
    { ...common, phone_number: '15550780002', display_name: 'Harbour Pharmacy' },
  ])
  const one = data[0] as Sender
  expect(await workspace.call(`/v1/senders/${one.id}`)).toMatchObject({ status: 200, body: one })
})

test('senders are paged in both directions', async () => {
  const workspace = await newWorkspace(server)
  const account = network.newAccount()
  for (let n = 0; n < 4; n++) {
    network.control.numbers.create({ wabaId: account.wabaId, phoneNumber: `4917020000${n}0` })
  }
  await account.connect(workspace)
  for (const order of ['asc', 'desc']) {
    const seen: string[] = []
    let cursor = ''
    for (let pages = 0; pages < 3; pages++) {
      const { body } = await workspace.call(`/v1/senders?limit=2&order=${order}${cursor}`)
      const { data, total, next_cursor } = body as Listed
      expect(total).toBe(5)
      seen.push(...data.map(({ phone_number }) => phone_number))
      cursor = next_cursor === null ? 'none' : `&cursor=${next_cursor}`
    }
    expect(cursor).toBe('none')
    expect(new Set(seen).size).toBe(5)
  }
})

test('a sender of another workspace gets the same 404 as an unknown one', async () => {
  const [ours, theirs] = [await newWorkspace(server), await newWorkspace(server)]
  await network.newAccount().connect(theirs)
  const { body } = await theirs.call('/v1/senders')
  const id = (body as Listed).data[0]?.id as string
  for (const path of [id, 'snd_01890000-0000-7000-8000-000000000000', 'snd_1', 'x', id.replace('snd_', 'tpl_')]) {
    expect(await ours.call(`/v1/senders/${path}`)).toMatchObject({
      status: 404,
      body: { error: { code: 'not_found' } },
    })
  }
  expect(await ours.call('/v1/senders')).toMatchObject({ body: { data: [], total: 0, has_more: false } })
})

test('reading senders needs the scope senders:read, and refuses unknown parameters', async () => {
  const workspace = await newWorkspace(server)
  const { secret } = await workspace.newKey({ scopes: ['templates:read'] })
  for (const path of ['/v1/senders', '/v1/senders/snd_01890000-0000-7000-8000-000000000000']) {
    const { status, body } = await server.call(path, { key: secret })
    expect({ status, body }).toMatchObject({
      status: 403,
      body: { error: { code: 'insufficient_scope', details: { required_scope: 'senders:read' } } },
    })
  }
  for (const query of [
    'limit=0',
    'limit=101',
    'limit=1e1',
    'limit=0x10',
    'limit=%205',
    'limit=5.0',
    'order=up',
    'cursor=nonsense',
    'status=CONNECTED',
  ]) {
    expect(await workspace.call(`/v1/senders?${query}`)).toMatchObject({
      status: 400,
      body: { error: { code: 'validation_failed', errors: [{ param: query.split('=')[0] }] } },
    })
  }
})

test('a number that is no longer listed becomes DELETED, and keeps its id when it is listed again', async () => {
  const workspace = await newWorkspace(server)
  const account = network.newAccount()
  const number = network.control.numbers.create({ wabaId: account.wabaId, phoneNumber: '491709999001' })
  await account.connect(workspace)
  const sender = async () =>
    ((await workspace.call('/v1/senders')).body as Listed).data.find((one) => one.phone_number === '491709999001')
  const before = await sender()
  // The simulator cannot delete a number, so move it to another account.
  const originalWabaId = number.wabaId
  number.wabaId = network.newAccount().wabaId
  server.clock.forward({ hours: 6 })
  await network.drain()
  expect(await sender()).toEqual({ ...before, status: 'DELETED' })
  number.wabaId = originalWabaId
  server.clock.forward({ hours: 6 })
  await network.drain()
  expect(await sender()).toEqual(before)
})

test('a number stays with its workspace; a sync of another workspace reports it', async () => {
  const [first, second] = [await newWorkspace(server), await newWorkspace(server)]
  const [account, other] = [network.newAccount(), network.newAccount()]
  const { appId } = await account.connect(first)
  const { token } = network.control.tokens.create({
    appId: network.control.tokens.list().find((one) => one.token === account.token)?.appId as string,
    wabaIds: [other.wabaId],
  })
  const number = network.control.numbers.list().find((one) => one.wabaId === account.wabaId)
  if (number) number.wabaId = other.wabaId
  const input = { workspaceId: second.id, appId, wabaId: other.wabaId, accessToken: token }
  const { connection, sync } = await createConnection(network.network, input)
  expect(sync).toMatchObject({ kind: 'synced', senders: 1 })
  expect(connection.syncError).toContain(account.phoneNumber)
  const numbers = ((await second.call('/v1/senders')).body as Listed).data.map((one) => one.phone_number)
  expect(numbers).toEqual([other.phoneNumber])
})
