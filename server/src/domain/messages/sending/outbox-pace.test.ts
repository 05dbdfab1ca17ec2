import { expect, test } from 'vitest'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'

const server = useTestServer()
const sending = useSending(server)

const statusesOf = async ({ workspace }: TestShop) => {
  const rows = await server.db.rows<{ status: string; count: number }>(
    'select status, count(*) from messages where workspace_id = $1 group by 1',
    [workspace.id],
  )
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

async function sendMany(shop: TestShop, count: number, to = (n: number) => String(16_505_560_000 + n)) {
  for (let n = 0; n < count; n++) await shop.sendText(to(n))
}

test('a number sends no more than its throughput, over all processes', async () => {
  const shop = await sending.newShop()
  sending.network.control.switches.set({ throughputLimit: true })
  await sendMany(shop, 30)
  const others = [sending.newOutbox(), sending.newOutbox()]
  const drainAll = () => Promise.all([sending.outbox, ...others].map((outbox) => outbox.drain()))
  await drainAll()
  expect(await statusesOf(shop)).toMatchObject({ queued: 22 })
  server.clock.forward({ ms: 100 })
  await drainAll()
  expect(await statusesOf(shop)).toMatchObject({ queued: 15 })
  server.clock.forward({ seconds: 1 })
  await drainAll()
  expect(await statusesOf(shop)).toMatchObject({ queued: 7 })
  await server.db.change(`update senders set throughput = 'HIGH' where workspace_id = $1`, [shop.workspace.id])
  server.clock.forward({ seconds: 1 })
  await drainAll()
  expect(await statusesOf(shop)).not.toHaveProperty('queued')
  sending.network.control.switches.set({ throughputLimit: false })
})

test('to one person no more than 45 at once, without being refused for it; others are not kept waiting', async () => {
  const shop = await sending.newShop()
  await server.db.change(`update senders set throughput = 'HIGH' where workspace_id = $1`, [shop.workspace.id])
  await sendMany(shop, 50, () => '16505550177')
  const other = await shop.sendText('16505550178')
  await sending.drain()
  expect(shop.taken('16505550177')).toHaveLength(45)
  expect(await shop.look(other.id)).toMatchObject({ status: 'read' })
  for (let n = 46; n <= 50; n++) {
    server.clock.forward({ seconds: 6 })
    // The pretend network has a clock of its own, which has not moved.
    sending.network.control.switches.set({ pairLimit: false })
    await sending.drain()
    expect(shop.taken('16505550177')).toHaveLength(n)
  }
  sending.network.control.switches.set({ pairLimit: true })
  expect(
    await server.db.rows('select 1 from messages where workspace_id = $1 and error is not null', [shop.workspace.id]),
  ).toEqual([])
})

test('a number in trouble waits and then goes on; another workspace’s does not notice', async () => {
  const [bad, good] = [await sending.newShop(), await sending.newShop()]
  await bad.sendText('15552131057')
  await sending.drain()
  await sendMany(bad, 3)
  await sendMany(good, 3)
  await sending.drain()
  expect(await statusesOf(bad)).toEqual({ queued: 4 })
  expect(await statusesOf(good)).toEqual({ read: 3 })
  server.clock.forward({ seconds: 89 })
  await sending.drain()
  expect(await statusesOf(bad)).toEqual({ queued: 4 })
  server.clock.forward({ seconds: 1 })
  await sending.drain()
  expect(await statusesOf(bad)).toEqual({ read: 4 })
  expect(await server.db.rows('select 1 from sending_holds where subject_id = $1', [bad.senderId.slice(4)])).toEqual([])
})

test('a token that is no longer good holds the whole connection, longer each time, until a message goes through', async () => {
  const shop = await sending.newShop()
  const { control } = sending.network
  control.tokens.change(shop.account.token, { revoked: true })
  await shop.sendText('16505550101')
  await sending.drain()
  await sendMany(shop, 2)
  await sending.drain()
  expect(await statusesOf(shop)).toEqual({ failed: 1, queued: 2 })
  control.tokens.change(shop.account.token, { revoked: false })
  server.clock.forward({ seconds: 5 })
  await sending.drain()
  expect(await statusesOf(shop)).toEqual({ failed: 1, read: 2 })
})

test('what cannot be handed over for a day is given up, with the network’s last word', async () => {
  const shop = await sending.newShop(1)
  const { id } = await shop.sendText('15551000002')
  await sending.drain()
  server.clock.forward({ hours: 24 })
  await sending.drain()
  expect(await shop.look(id)).toMatchObject({ status: 'failed', error: { code: 2 } })
})

test('an outbox that is told to stop gives back what it has not begun', async () => {
  const shop = await sending.newShop()
  await sendMany(shop, 5)
  const outbox = sending.newOutbox()
  const turn = outbox.turn()
  await outbox.stop()
  await turn
  await outbox.stop()
  const states = await server.db.rows('select distinct state from outbox where workspace_id = $1', [shop.workspace.id])
  expect(states).toEqual([{ state: 'waiting' }])
  server.clock.forward({ seconds: 1 })
  await sending.drain()
  expect(await statusesOf(shop)).toEqual({ read: 5 })
})
