import { Parley } from '@parley/sdk/client'
import { beforeAll, expect, test } from 'vitest'
import { callApi } from '../../../../testing/call.ts'
import { signedIn } from '../../../../testing/console.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { newProcessShop } from '../../../../testing/shop-process.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { watchWorkerNotices } from '../../../../testing/worker-notices.ts'
import { newReadReceipts, type ReadReceipts } from './read-receipts.ts'

const server = useTestServer()
const sending = useSending(server)
let receipts: ReadReceipts

beforeAll(() => {
  receipts = newReadReceipts(sending.network.network, server.runtime.log)
})

/** A person writes to the shop. Returns the ID of the message, and WhatsApp's. */
async function receive(shop: TestShop, phone: string, text = 'hello'): Promise<{ id: string; waId: string }> {
  const { control } = sending.network
  const { id: waId = '' } = await control.phones.say(phone, { to: shop.account.phoneNumber, text })
  await control.idle()
  const rows = await server.db.rows<{ id: string }>('select id from inbound_messages where wa_message_id = $1', [waId])
  return { id: `msg_${rows[0]?.id}`, waId }
}

const read = ({ workspace }: TestShop, id: string, body?: object) =>
  workspace.call(`/v1/inbound_messages/${id}/read`, { method: 'POST', ...(body && { body }) })

/** What the phone shows for each message that it sent. */
const ticks = (shop: TestShop, phone: string) =>
  sending.network.control.phones.messages(phone, shop.account.phoneNumber).map(({ receipt }) => receipt)

/** The bodies of the calls that marked this message as read. */
const callsFor = (waId: string): { status: string; typing_indicator?: object }[] =>
  sending.network.control.log
    .list({ limit: 1_000_000 })
    .flatMap((line) => (line.kind === 'call' && line.request.startsWith('{') ? [JSON.parse(line.request)] : []))
    .filter((body) => body.status === 'read' && body.message_id === waId)

const waiting = async () =>
  (await server.db.rows<{ id: string }>(`select 'msg_' || message_id as id from read_receipts`)).map(({ id }) => id)

test('POST /v1/inbound_messages/{id}/read responds with 204, and the phone shows that the message was read', async () => {
  const shop = await sending.newShop(7)
  const { id, waId } = await receive(shop, '16505550301')
  expect(ticks(shop, '16505550301')).toEqual(['taken'])
  const response = await read(shop, id)
  expect([response.status, response.body]).toEqual([204, ''])
  // Some clients name a type although they send nothing.
  const headers = { 'content-type': 'application/json' }
  const path = `/v1/inbound_messages/${id}/read`
  expect((await shop.workspace.call(path, { method: 'POST', headers })).status).toBe(204)
  // Nothing was called yet, and it is stored.
  expect([callsFor(waId), await waiting()]).toEqual([[], [id]])
  await receipts.drain()
  expect(ticks(shop, '16505550301')).toEqual(['seen'])
  expect(callsFor(waId)).toEqual([{ messaging_product: 'whatsapp', status: 'read', message_id: waId }])
  expect(await waiting()).toEqual([])
  const balance = await server.db.first('select balance from credit_balances where workspace_id = $1', [
    shop.workspace.id,
  ])
  expect(balance).toEqual({ balance: 7 })
  expect(await server.db.rows('select 1 from messages where workspace_id = $1', [shop.workspace.id])).toEqual([])
})

test('with typing the phone shows that the business is typing, unless that would be too late', async () => {
  const shop = await sending.newShop()
  const [first, second] = [await receive(shop, '16505550302'), await receive(shop, '16505550302')]
  expect((await read(shop, first.id, { typing: true })).status).toBe(204)
  await receipts.drain()
  expect(callsFor(first.waId)).toMatchObject([{ typing_indicator: { type: 'text' } }])
  expect((await read(shop, second.id, { typing: true })).status).toBe(204)
  server.clock.forward({ seconds: 26 })
  await receipts.drain()
  expect(callsFor(second.waId)).toEqual([{ messaging_product: 'whatsapp', status: 'read', message_id: second.waId }])
  expect(ticks(shop, '16505550302')).toEqual(['seen', 'seen'])
})

test('repeated requests for one message are one call, with typing if one of them asks for it', async () => {
  const shop = await sending.newShop()
  const { id, waId } = await receive(shop, '16505550303')
  const statuses = await Promise.all([{}, { typing: true }, { typing: false }].map((body) => read(shop, id, body)))
  expect(statuses.map(({ status }) => status)).toEqual([204, 204, 204])
  await receipts.drain()
  expect(callsFor(waId)).toMatchObject([{ typing_indicator: { type: 'text' } }])
})

test('a request that comes while the network is being called is not lost', async () => {
  const shop = await sending.newShop()
  const { id, waId } = await receive(shop, '16505550304')
  sending.network.control.switches.set({ respondAfterMs: 300 })
  await read(shop, id)
  expect(await receipts.turn()).toBe(1)
  await read(shop, id, { typing: true })
  await receipts.drain()
  sending.network.control.switches.set({ respondAfterMs: 0 })
  expect(callsFor(waId).map(({ typing_indicator: typing }) => typing)).toEqual([undefined, { type: 'text' }])
  expect(await waiting()).toEqual([])
})

test('only messages that the workspace received are found, and the body may have nothing but typing', async () => {
  const [shop, other] = [await sending.newShop(), await sending.newShop()]
  const { id } = await receive(shop, '16505550305')
  const sent = await shop.sendText('16505550305')
  const unknown = 'msg_01890000-0000-7000-8000-000000000000'
  const notFound = await read(shop, unknown)
  expect([notFound.status, notFound.body]).toMatchObject([404, { error: { code: 'not_found' } }])
  for (const [by, target] of [
    [other, id],
    [shop, sent.id],
    [shop, id.replace('msg', 'snd')],
  ] as const) {
    expect((await read(by, target)).status).toBe(404)
  }
  for (const body of [{ typing: 'yes' }, { typing: true, colour: 'red' }, []]) {
    const response = await read(shop, id, body)
    expect([response.status, response.body]).toMatchObject([400, { error: { code: 'validation_failed' } }])
  }
  expect(await waiting()).toEqual([])
  const { secret } = await shop.workspace.newKey({ scopes: ['inbound:read', 'messages:read'] })
  const options = { method: 'POST', key: secret }
  expect((await server.call(`/v1/inbound_messages/${id}/read`, options)).body).toMatchObject({
    error: { code: 'insufficient_scope', details: { required_scope: 'messages:send' } },
  })
})

test('what the network refuses is logged and not repeated, and the number waits if it is its error', async () => {
  const shop = await sending.newShop()
  const { id, waId } = await receive(shop, '16505550306')
  // The network does not know the message any more.
  await server.db.change('update inbound_messages set wa_message_id = $2 where id = $1', [id.slice(4), `${waId}x`])
  await read(shop, id)
  await receipts.drain()
  expect(await waiting()).toEqual([])
  const lines = server.logged.map((line) => JSON.parse(line)).filter(({ event }) => event === 'read_receipt.not_sent')
  expect(lines).toMatchObject([{ message_id: id.slice(4), outcome: 'refused', network_code: 131009, attempts: 1 }])

  const [first, second] = [await receive(shop, '16505550307'), await receive(shop, '16505550308')]
  const setStatus = (status: string) => sending.network.control.numbers.change(shop.account.phoneNumber, { status })
  setStatus('DISCONNECTED')
  await read(shop, first.id)
  await receipts.drain()
  // An error of the number: it waits, and no call is made.
  expect(await waiting()).toEqual([])
  await read(shop, second.id)
  await receipts.drain()
  expect([callsFor(second.waId), await waiting()]).toEqual([[], [second.id]])
  setStatus('CONNECTED')
  server.clock.forward({ seconds: 5 })
  await receipts.drain()
  expect(ticks(shop, '16505550308')).toEqual(['seen'])
})

test('while the network cannot be reached, a receipt is retried', async () => {
  const shop = await sending.newShop()
  const { id, waId } = await receive(shop, '16505550360')
  const setUrl = (url: string) =>
    server.db.change('update apps set graph_url = $2 where id = $1', [shop.connection.appId, url])
  await setUrl('http://127.0.0.1:9')
  await read(shop, id)
  await receipts.drain()
  expect([callsFor(waId), await waiting()]).toEqual([[], [id]])
  await setUrl(sending.network.simulator.url)
  await receipts.drain()
  expect(callsFor(waId)).toEqual([])
  server.clock.forward({ seconds: 5 })
  await receipts.drain()
  expect([ticks(shop, '16505550360'), await waiting()]).toEqual([['seen'], []])
})

test('a sender on hold waits, and a receipt that could not be sent for a day is dropped', async () => {
  const shop = await sending.newShop()
  const { id, waId } = await receive(shop, '16505550309')
  await read(shop, id)
  await server.db.change(`insert into sending_holds (subject_id, until, failures, error) values ($1, $2, 1, '{}')`, [
    shop.senderId.slice(4),
    new Date(server.clock.now().getTime() + 60_000),
  ])
  await receipts.drain()
  expect([callsFor(waId), await waiting()]).toEqual([[], [id]])
  await server.passDays(1)
  await receipts.drain()
  expect([callsFor(waId), await waiting()]).toEqual([[], []])
  const line = server.logged.map((each) => JSON.parse(each)).findLast(({ event }) => event === 'read_receipt.not_sent')
  expect(line).toMatchObject({ message_id: id.slice(4), outcome: 'expired' })
})

test('receipts and messages share the pace of their number, across all processes', async () => {
  const shop = await sending.newShop()
  const ids = []
  for (let n = 0; n < 12; n++) ids.push(await receive(shop, `165055503${10 + n}`))
  const second = newReadReceipts(sending.network.network, server.runtime.log)
  // The pace of a number begins with a burst of a tenth of its throughput: 8.
  for (let n = 0; n < 5; n++) await shop.sendText(`165055503${40 + n}`)
  await sending.outbox.drain()
  for (const { id } of ids) expect((await read(shop, id)).status).toBe(204)
  await Promise.all([receipts.drain(), second.drain()])
  expect(await waiting()).toHaveLength(12 - 3)
  server.clock.forward({ seconds: 1 })
  await Promise.all([receipts.drain(), second.drain()])
  expect(await waiting()).toHaveLength(12 - 3 - 8)
  server.clock.forward({ seconds: 1 })
  await receipts.drain()
  expect(await waiting()).toEqual([])
  for (const { waId } of ids) expect(callsFor(waId)).toHaveLength(1)
})

test('the SDK client lists, gets and marks inbound messages as read', async () => {
  const shop = await sending.newShop()
  const { id, waId } = await receive(shop, '16505550350')
  const { inboundMessages } = new Parley({ key: shop.workspace.secret, baseUrl: server.url })
  const message = await inboundMessages.get(id)
  expect(message).toMatchObject({ message_id: id, wa_message_id: waId })
  const query = { from: '16505550350', received_after: new Date(0) }
  expect(await inboundMessages.list(query)).toMatchObject({ data: [message], total: 1 })
  expect(await inboundMessages.markAsRead(id, { typing: true })).toBeUndefined()
  await receipts.drain()
  expect(callsFor(waId)).toHaveLength(1)
})

test('a person marks a message as read in the console', async () => {
  const shop = await sending.newShop()
  const { id, waId } = await receive(shop, '16505550351')
  const person = await signedIn(server, { workspaceId: shop.workspace.id, role: 'developer' })
  const { status } = await person.call(`/w/${shop.workspace.id}/messages/${id}/read`, { method: 'POST', body: {} })
  expect(status).toBe(204)
  await receipts.drain()
  expect(callsFor(waId)).toHaveLength(1)
})

test('if a process dies in the middle of the call, another process makes it again; an API process wakes a worker', async () => {
  const { db, control, secret, start, startMortal } = await newProcessShop()
  const phone = '16505550123'
  const api = await start({ PARLEY_ROLE: 'api' })
  /** Marks a new message as read. */
  const readNext = async () => {
    await control.phones.say(phone, { to: '15550780001', text: 'hello' })
    await control.idle()
    const { body } = await callApi(`${api.url}/v1/inbound_messages`, { key: secret })
    const id = (body as { data: { message_id: string }[] }).data[0]?.message_id
    const path = `${api.url}/v1/inbound_messages/${id}/read`
    return async () => (await callApi(path, { method: 'POST', key: secret })).status
  }
  const stored = async () => (await db.rows<{ attempts: number }>('select attempts from read_receipts'))[0]
  // Without a worker, it waits.
  expect(await (await readNext())()).toBe(204)
  expect(await stored()).toEqual({ attempts: 0 })
  control.switches.set({ respondAfterMs: 60_000 })
  const first = await startMortal({ PARLEY_ROLE: 'worker' })
  await until('the call was made', async () => (await stored())?.attempts === 1)
  first.kill()
  control.switches.set({ respondAfterMs: 0 })
  const { workers, wakes } = await watchWorkerNotices(db)
  await start({ PARLEY_ROLE: 'worker' })
  expect(await stored()).toEqual({ attempts: 1 })
  // As if the lease had ended.
  await db.change(`update read_receipts set due_at = now() - interval '1 second'`)
  await until('it is marked as read', async () => (await stored()) === undefined)

  await until('the worker is announced', () => workers.size === 1)
  const read = await readNext()
  // The API process may hear of the worker a moment later than this test.
  await until('the worker is woken', async () => {
    expect(await read()).toBe(204)
    return wakes().includes('mark as read')
  })
  await until('it is marked as read', async () => (await stored()) === undefined)
  expect(control.phones.messages(phone).map(({ receipt }) => receipt)).toEqual(['seen', 'seen'])
})
