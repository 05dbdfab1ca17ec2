import { type Clock, systemClock } from '@parley/simulator/clock'
import { expect, test } from 'vitest'
import { ledgerOf } from '../../../../testing/ledger.ts'
import { eventsOf } from '../../../../testing/network-app.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { GraphClient } from '../../../whatsapp/graph/client.ts'
import { readBalance } from '../../credits/credits.ts'
import { verifyLedger } from '../../credits/verify-ledger.ts'
import { saveStatuses } from '../receiving/statuses.ts'
import { isTemporary, newOutbox, type Step } from './outbox.ts'

const server = useTestServer()
/** The network waits a twentieth of the time before it responds. */
const hurried: Clock = { now: systemClock.now, after: (delayMs, run) => systemClock.after(delayMs / 20, run) }
const sending = useSending(server, { clock: hurried })

const kindsOf = async ({ workspace }: TestShop) =>
  (await ledgerOf(server.db, workspace.id)).map(({ kind }) => kind).sort()

/** Moves the clock until the message is no longer queued. Statuses that the network has yet to report come first. */
async function finish(shop: TestShop, id: string) {
  for (let round = 0; round < 12; round++) {
    await sending.drain()
    const message = await shop.look(id)
    if (message.status !== 'queued') return message
    server.clock.forward({ hours: 2 })
  }
  return shop.look(id)
}

/** The statuses of a message, each once, in the order of `occurred_at`. The network's times are whole seconds. */
async function statusesOf(shop: TestShop, id: string) {
  const order = ['sent', 'failed', 'delivered', 'read']
  const events = (await eventsOf(server, shop.workspace.id))
    .filter(({ data }) => data.message_id === id)
    .sort((left, right) => order.indexOf(String(left.data.status)) - order.indexOf(String(right.data.status)))
  const times = events.map(({ data }) => String(data.occurred_at))
  expect(times).toEqual([...times].sort())
  return events.map(({ data }) => data.status)
}

const template = { type: 'template', template: { name: 'greeting', language: 'en', variables: { 'body.1': 'Ana' } } }
const text = { type: 'text', text: { body: 'hi' } }

/** Magic number, message, statuses in order, error code if it fails, and how many messages the network has. */
const magicNumbers: [to: string, body: object, statuses: string[], code: number | string | null, taken: number][] = [
  ['15550131026', text, ['sent', 'failed'], 131026, 1],
  ['15550131047', text, ['sent', 'failed'], 131047, 1],
  ['15550131049', template, ['sent', 'failed'], 131049, 1],
  ['15551131009', text, ['failed'], 131009, 0],
  ['15551000190', text, ['failed'], 190, 0],
  ['15551131031', text, ['failed'], 131031, 0],
  ['15551131016', text, ['failed'], 131016, 0],
  ['15551131056', text, ['failed'], 131056, 0],
  ['15552131000', text, ['sent', 'delivered', 'read'], null, 1],
  ['15552130429', text, ['sent', 'delivered', 'read'], null, 1],
  ['15552131056', text, ['sent', 'delivered', 'read'], null, 1],
  ['15552000613', text, ['sent', 'delivered', 'read'], null, 1],
  ['15552080008', text, ['sent', 'delivered', 'read'], null, 1],
  ['15552000004', text, ['sent', 'delivered', 'read'], null, 1],
  ['15553131000', text, ['sent', 'delivered', 'read'], null, 1],
  ['15559000001', text, ['sent', 'delivered', 'read'], null, 1],
  ['15559000002', text, ['sent', 'delivered', 'read'], null, 1],
  ['15559000003', text, ['failed'], 'outcome_unknown', 0],
  ['15559000004', text, ['failed'], 'outcome_unknown', 0],
  ['15559000005', text, ['sent', 'delivered', 'read'], null, 1],
  ['15559000006', text, ['sent', 'delivered', 'read'], null, 1],
  ['15559000007', text, ['sent', 'delivered', 'read'], null, 1],
  ['15559000008', template, ['sent', 'delivered', 'read'], null, 0],
  ['15559000009', text, ['sent'], null, 1],
  ['15559000010', text, ['sent', 'delivered'], null, 1],
  ['15559000011', text, ['sent', 'read'], null, 1],
  ['15559000012', template, ['sent', 'delivered', 'read'], null, 1],
  ['15559000013', template, ['sent', 'failed'], 132015, 1],
]

test.each(magicNumbers)('the magic number %s ends as documented', async (to, body, statuses, code, taken) => {
  const shop = await sending.newShop(3)
  const { id } = (await shop.send({ to, reference: 'order 7', ...body })).body as { id: string }
  if (to === neverResponds) await drainImpatiently()
  const message = await finish(shop, id)
  await sending.drain()
  expect(await statusesOf(shop, id)).toEqual(statuses)
  const references = (await eventsOf(server, shop.workspace.id)).map(({ data }) => data.reference)
  expect(references).toEqual(statuses.map(() => 'order 7'))
  expect(message.error?.code ?? null).toBe(code)
  if (taken > 0) expect(shop.taken(to)).toHaveLength(taken)
  const isFailed = statuses.includes('failed')
  expect(await kindsOf(shop)).toEqual(isFailed ? ['debit', 'grant', 'refund'] : ['debit', 'grant'])
  expect(await readBalance(server.db, shop.workspace.id)).toBe(isFailed ? 3 : 2)
})

const neverResponds = '15559000001'

/** With a client that does not wait long for a response. */
async function drainImpatiently(): Promise<void> {
  const client = new GraphClient({ productVersion: 'test', responseTimeoutMs: 300 })
  await newOutbox({ ...sending.network.network, client }, server.runtime.log).drain()
  await client.close()
}

const crashes: [step: Step, ends: string, taken: number][] = [
  ['claimed', 'read', 1],
  // It is unknown whether the call was made, so it is not repeated.
  ['calling', 'failed', 0],
  ['responded', 'read', 1],
  ['recorded', 'read', 1],
]

test.each(crashes)(
  'when a process dies at "%s", the message ends as %s and is sent %i times',
  async (step, ends, taken) => {
    const shop = await sending.newShop(1)
    const { id } = await shop.sendText('16505550123')
    const dying = sending.newOutbox({
      onStep(at) {
        if (at === step) throw new Error('killed')
      },
    })
    await dying.drain()
    await sending.network.control.idle()
    server.clock.forward({ seconds: 91 })
    expect(await finish(shop, id)).toMatchObject({ status: ends })
    expect(shop.taken('16505550123').filter(({ ourId }) => ourId === id)).toHaveLength(taken)
    expect(await kindsOf(shop)).toEqual(ends === 'failed' ? ['debit', 'grant', 'refund'] : ['debit', 'grant'])
    expect(await statusesOf(shop, id)).toEqual(ends === 'failed' ? ['failed'] : ['sent', 'delivered', 'read'])
    expect(await server.db.rows('select 1 from outbox where message_id = $1', [id.slice(4)])).toEqual([])
    expect(await verifyLedger(server.db, newLogger('silent'))).toEqual([])
  },
)

test.each(['40P01', '40001', '53100', '55P03', '57014', '58030'])(
  'a statement that fails with %s is repeated',
  (code) => {
    expect(isTemporary(Object.assign(new Error('failed'), { code }))).toBe(true)
  },
)

test.each(['23505', '22001', '42P01', undefined])('a statement that fails with %s is not repeated', (code) => {
  expect(isTemporary(Object.assign(new Error('failed'), { code }))).toBe(false)
})

test('two processes never send a message twice, even if one was suspended for longer than its lease', async () => {
  const shop = await sending.newShop(10)
  const ids: string[] = []
  for (let n = 0; n < 8; n++) ids.push((await shop.sendText(`1650555010${n}`)).id)
  const slow = sending.newOutbox({ onStep: (at) => at === 'claimed' && server.clock.forward({ seconds: 91 }) })
  await slow.sendDue()
  await Promise.all([sending.outbox.drain(), slow.drain()])
  for (let round = 0; round < 5; round++) await finish(shop, ids[0] ?? '')
  for (const [n, id] of ids.entries()) expect(shop.taken(`1650555010${n}`).map(({ ourId }) => ourId)).toEqual([id])
})

test('a late delivered status overrides a failure of unknown outcome, and the refund is kept', async () => {
  const shop = await sending.newShop(1)
  sending.network.control.switches.set({ delayWebhooksMs: 3_600_000 })
  const { id } = await shop.sendText('15559000002')
  await sending.outbox.drain()
  server.clock.forward({ hours: 2 })
  await sending.outbox.drain()
  expect(await shop.look(id)).toMatchObject({ status: 'failed', error: { code: 'outcome_unknown' } })
  sending.network.control.switches.set({ delayWebhooksMs: 0 })
  const report = { workspaceId: shop.workspace.id, senderId: shop.senderId.slice(4), waMessageId: 'wamid.LATE' }
  const late = {
    ...report,
    messageId: id.slice(4),
    status: 'delivered' as const,
    occurredAt: server.clock.now(),
    error: null,
    recipientUserId: null,
    pricing: null,
  }
  await server.db.transaction((tx) => saveStatuses(tx, server.clock.now(), [late]))
  expect(await shop.look(id)).toMatchObject({ status: 'delivered', error: null })
  expect(await kindsOf(shop)).toEqual(['debit', 'grant', 'refund'])
  expect(await readBalance(server.db, shop.workspace.id)).toBe(1)
})
