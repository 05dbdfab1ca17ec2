import { expect, test } from 'vitest'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { activeHolds } from './outbox.ts'

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

test('a number stays within its throughput across all processes', async () => {
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

test('a recipient gets a burst of at most 45 messages without an error, and other recipients are not delayed', async () => {
  const shop = await sending.newShop()
  await server.db.change(`update senders set throughput = 'HIGH' where workspace_id = $1`, [shop.workspace.id])
  await sendMany(shop, 50, () => '16505550177')
  const other = await shop.sendText('16505550178')
  await sending.drain()
  expect(shop.taken('16505550177')).toHaveLength(45)
  expect(await shop.look(other.id)).toMatchObject({ status: 'read' })
  for (let n = 46; n <= 50; n++) {
    server.clock.forward({ seconds: 6 })
    // The simulated network has its own clock, which has not moved.
    sending.network.control.switches.set({ pairLimit: false })
    await sending.drain()
    expect(shop.taken('16505550177')).toHaveLength(n)
  }
  sending.network.control.switches.set({ pairLimit: true })
  expect(
    await server.db.rows('select 1 from messages where workspace_id = $1 and error is not null', [shop.workspace.id]),
  ).toEqual([])
})

test('a number with errors is held and then continues, and other workspaces are not affected', async () => {
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

/** Sends 80 messages. Returns how long it takes, by the clock of the test server, until the network has the good ones. */
async function sendAll(to: (n: number) => string, isGood: (n: number) => boolean = () => true) {
  const shop = await sending.newShop(80)
  await sendMany(shop, 80, to)
  const startedAt = server.clock.now().getTime()
  const goodOnes = Array.from({ length: 80 }, (_, n) => n)
    .filter(isGood)
    .map(to)
  const subjects = [shop.senderId.slice(4), shop.connection.id, shop.connection.appId]
  const holds: unknown[] = []
  for (let round = 0; round < 60; round++) {
    await sending.outbox.drain()
    holds.push(...(await activeHolds(server.db, server.clock.now())).filter(({ id }) => subjects.includes(id)))
    const [left] = await server.db.rows<{ count: number }>(
      'select count(*) from outbox where workspace_id = $1 and recipient = any($2)',
      [shop.workspace.id, goodOnes],
    )
    if (left?.count === 0) break
    server.clock.forward({ ms: 100 })
  }
  await sending.network.control.idle()
  return { shop, durationMs: server.clock.now().getTime() - startedAt, holds }
}

const good = (n: number) => String(16_505_570_000 + n)
let withoutErrors: ReturnType<typeof sendAll> | undefined

test.each([
  [['15551131063', '15551130497'], 'failed'],
  [['15551131026', '15551131049'], 'failed'],
  [['15551131016', '15551000002'], 'queued'],
])('recipients that always get an error (%j) delay no other message of their number', async (bad, ends) => {
  withoutErrors ??= sendAll(good)
  const without = await withoutErrors
  const isBad = (n: number) => n % 10 === 0
  const withBad = await sendAll(
    (n) => (isBad(n) ? String(bad[(n / 10) % 2]) : good(n)),
    (n) => !isBad(n),
  )
  expect(withBad.holds).toEqual([])
  expect(withBad.durationMs).toBeLessThanOrEqual(without.durationMs)
  expect(await statusesOf(without.shop)).toEqual({ read: 80 })
  expect(await statusesOf(withBad.shop)).toEqual({ read: 72, [ends]: 8 })
})

test('while WhatsApp is unavailable, the app is held after a few errors in a row', async () => {
  const shop = await sending.newShop()
  for (let n = 0; n < 5; n++) {
    await shop.sendText('15551131016')
    await sending.drain()
    server.clock.forward({ ms: 100 })
  }
  const held = (await activeHolds(server.db, server.clock.now())).map(({ id }) => id)
  expect(held).toContain(shop.connection.appId)
})

test('a revoked token holds the whole connection until a message is accepted again', async () => {
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

test('a message that cannot be sent for a day fails with the network’s last error', async () => {
  const shop = await sending.newShop(1)
  const { id } = await shop.sendText('15551000002')
  await sending.drain()
  server.clock.forward({ hours: 24 })
  await sending.drain()
  expect(await shop.look(id)).toMatchObject({ status: 'failed', error: { code: 2 } })
})

test('a stopped outbox requeues the messages it has not started', async () => {
  const shop = await sending.newShop()
  await sendMany(shop, 5)
  const outbox = sending.newOutbox()
  const sendingDue = outbox.sendDue()
  await outbox.stop()
  await sendingDue
  await outbox.stop()
  const states = await server.db.rows('select distinct state from outbox where workspace_id = $1', [shop.workspace.id])
  expect(states).toEqual([{ state: 'waiting' }])
  server.clock.forward({ seconds: 1 })
  await sending.drain()
  expect(await statusesOf(shop)).toEqual({ read: 5 })
})

test('a number with a hold sends nothing when a new message is accepted for it, and one without a hold does', async () => {
  const [bad, good] = [await sending.newShop(), await sending.newShop()]
  await bad.sendText('15552131057')
  await sending.drain()
  await sendMany(bad, 1)
  await sendMany(good, 1)
  const numbers = [bad, good].map(({ workspace, senderId, connection }) => {
    return { id: senderId.slice(4), workspaceId: workspace.id, connectionId: connection.id, throughput: null }
  })
  const outbox = sending.newOutbox()
  expect(await outbox.sendDue(numbers)).toBe(1)
  await outbox.drain()
  expect(await statusesOf(bad)).toEqual({ queued: 2 })
  expect(await statusesOf(good)).not.toHaveProperty('queued')
})
