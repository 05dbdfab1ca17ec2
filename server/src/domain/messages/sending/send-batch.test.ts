import type { MessageBatchResult } from '@parley/contract/message-batch'
import { expect, onTestFinished, test } from 'vitest'
import { openTransaction } from '../../../../testing/open-transaction.ts'
import { useProcesses } from '../../../../testing/processes.ts'
import { useSending } from '../../../../testing/sending.ts'
import { newProcessShop } from '../../../../testing/shop-process.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { lockBalance, readBalance } from '../../credits/credits.ts'
import { setPrice } from '../../credits/prices.ts'
import { verifyLedger } from '../../credits/verify-ledger.ts'
import { type BatchAcceptance, newAcceptance } from './acceptance.ts'
import { sendBatch } from './send-batch.ts'

const server = useTestServer()
const processes = useProcesses(server)
const sending = useSending(server)

const text = { type: 'text', text: { body: 'hi' } }
const to = (n: number) => ({ ...text, to: String(16_505_550_000 + n) })
const many = (count: number) => Array.from({ length: count }, (_, n) => to(n))

interface Shop {
  workspace: { id: string; secret: string }
}
async function post(
  { workspace }: Shop,
  body: unknown,
  { key, query = '', on = 0 }: { key?: string; query?: string; on?: number } = {},
) {
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const path = `/v1/messages/batch${query}`
  const response = await processes.call(on, path, { method: 'POST', key: workspace.secret, headers, body })
  return { ...response, result: response.body as MessageBatchResult & { error: { code: string; param?: string } } }
}
const messagesOf = ({ workspace }: Shop) =>
  server.db.rows<{ id: string }>('select id from messages where workspace_id = $1', [workspace.id])

test('each message of a batch is accepted or rejected as if it were alone, in the order given', async () => {
  const shop = await sending.newShop(100)
  const template = { name: 'greeting', language: 'en', variables: {} }
  const messages = [
    to(1),
    { ...text, to: 'nobody' },
    { ...to(2), type: 'template', template },
    to(3),
    7,
    { ...to(4), x: 1 },
  ]
  const { status, result, headers } = await post(shop, { messages })
  expect(status).toBe(200)
  expect(result).toMatchObject({ object: 'list', accepted: 2, rejected: 4 })
  expect(result.data.map(({ index, status }) => [index, status])).toEqual([
    [0, 202],
    [1, 400],
    [2, 400],
    [3, 202],
    [4, 400],
    [5, 400],
  ])
  expect(result.data[0]).toMatchObject({
    message: { object: 'message', status: 'queued', to: '16505550001', credits: 1 },
  })
  const error = { code: 'validation_failed', type: 'invalid_request_error', request_id: headers.get('x-request-id') }
  expect(result.data[1]).toMatchObject({ error: { ...error, param: 'to' } })
  expect(result.data[5]).toMatchObject({ error: { ...error, param: 'x' } })
  expect(await messagesOf(shop)).toHaveLength(2)
  expect(await readBalance(server.db, shop.workspace.id)).toBe(98)
  // One request for the batch, and one in which the shop was set up.
  expect(headers.get('ratelimit-remaining')).toBe(String(Number(headers.get('ratelimit-limit')) - 2))
})

test('a batch has 1 to 500 messages and at most 2 MiB', async () => {
  const shop = await sending.newShop(1000)
  for (const body of [
    { messages: [] },
    { messages: many(501) },
    {},
    { messages: 'x' },
    { messages: [to(1)], more: 1 },
  ]) {
    expect((await post(shop, body)).result).toMatchObject({ error: { code: 'validation_failed' } })
  }
  const long = { ...to(1), text: { body: 'a'.repeat(4000) } }
  const { status, result } = await post(shop, { messages: Array.from({ length: 500 }, () => long) })
  expect([status, result.accepted]).toEqual([200, 500])
  const tooLong = { ...long, reference: 'b'.repeat(500) }
  expect((await post(shop, { messages: Array.from({ length: 500 }, () => tooLong) })).status).toBe(413)
})

test('credits are spent in the given order, and messages beyond the balance get 402', async () => {
  const shop = await sending.newShop(3)
  const { result } = await post(shop, { messages: many(5) })
  expect(result.data.map(({ status }) => status)).toEqual([202, 202, 202, 402, 402])
  expect(result.data[3]).toMatchObject({
    error: { code: 'insufficient_credits', details: { required: 1, available: 0 } },
  })
  expect(await readBalance(server.db, shop.workspace.id)).toBe(0)
  expect(await verifyLedger(server.db, newLogger('silent'))).toEqual([])
})

test('a message that is too expensive does not take the credits of cheaper messages after it, even across statements', async () => {
  await setPrice(server.db, 'image', 20)
  onTestFinished(() => setPrice(server.db, 'image', 1))
  const shop = await sending.newShop(10)
  const image = { to: '16505550123', type: 'image', image: { link: 'https://shop.example/box.jpg' } }
  const { result } = await post(shop, { messages: [image, ...many(250)] })
  const accepted = result.data.flatMap(({ index, status }) => (status === 202 ? [index] : []))
  expect(accepted).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(result.data[0]).toMatchObject({ status: 402, error: { details: { required: 20, available: 10 } } })
})

test('another batch with the same key is rejected, even if it has no message at the same place', async () => {
  const shop = await sending.newShop(10)
  const first = { messages: [{ ...text, to: 'x' }, to(1)] }
  expect((await post(shop, first, { key: 'k' })).result).toMatchObject({ accepted: 1, rejected: 1 })
  expect((await post(shop, { messages: [to(2)] }, { key: 'k' })).status).toBe(422)
  const again = await post(shop, first, { key: 'k' })
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  expect(await messagesOf(shop)).toHaveLength(1)
})

test('a batch with a key is sent once, however often, from whichever process, and even in parallel', async () => {
  const shop = await sending.newShop(1000)
  const body = { messages: many(250) }
  const responses = await Promise.all([0, 1, 2, 0].map((on) => post(shop, body, { key: 'campaign-1', on })))
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
  const last = await post(shop, body, { key: 'campaign-1' })
  expect(last.headers.get('idempotent-replayed')).toBe('true')
  for (const { result } of [...responses, last]) {
    expect(result.accepted).toBe(250)
    expect(result.data).toEqual(last.result.data)
  }
  expect(await messagesOf(shop)).toHaveLength(250)
  expect(await readBalance(server.db, shop.workspace.id)).toBe(750)
  const other = await post(shop, { messages: many(249) }, { key: 'campaign-1' })
  expect([other.status, other.result.error.code]).toEqual([422, 'idempotency_key_reused'])
  expect(await messagesOf(shop)).toHaveLength(250)
  expect((await post(shop, body, { key: 'with space' })).result.error.code).toBe('validation_failed')
})

test('a message with its own key is sent once, also by a request of its own', async () => {
  const shop = await sending.newShop(10)
  const alone = await shop.send(to(1), { 'idempotency-key': 'order-1' })
  const messages = [
    { ...to(1), idempotency_key: 'order-1' },
    { ...to(2), idempotency_key: 'order-2' },
    { ...to(2), idempotency_key: 'order-2' },
    { ...to(3), idempotency_key: 'order-1' },
    { ...to(4), idempotency_key: '' },
  ]
  const { result } = await post(shop, { messages })
  expect(result.data.map(({ status }) => status)).toEqual([202, 202, 202, 422, 400])
  const [first, second, third] = result.data as { message: { id: string } }[]
  expect(first?.message).toEqual(alone.body)
  expect(third?.message).toEqual(second?.message)
  expect(result.data[4]).toMatchObject({ error: { param: 'idempotency_key' } })
  expect(await messagesOf(shop)).toHaveLength(2)
})

const depsOf = async ({ workspace: { id: workspaceId } }: Shop) => {
  const key = await server.db.first<{ id: string }>('select id from api_keys where workspace_id = $1', [workspaceId])
  const acceptance = newAcceptance({ db: server.db, clock: server.clock })
  const caller = { workspaceId, keyId: key?.id ?? '', systemId: key?.id ?? '' }
  return { db: server.db, clock: server.clock, acceptance, caller }
}

test('while the balance is locked, only a message with an idempotency key is rejected as in progress', async () => {
  const shop = await sending.newShop(10)
  const locked = await openTransaction(server.db, (tx) => lockBalance(tx, shop.workspace.id))
  const { status, result } = await post(shop, { messages: [to(1), { ...to(2), idempotency_key: 'order-2' }] })
  await locked.commit()
  expect(status).toBe(200)
  expect(result.data).toMatchObject([
    { status: 503, error: { code: 'service_unavailable' } },
    { status: 409, error: { code: 'idempotency_in_progress' } },
  ])
  expect(await messagesOf(shop)).toEqual([])
})

test('messages that other requests always precede are unavailable, or in progress if they have an idempotency key', async () => {
  const deps = await depsOf(await sending.newShop(10))
  const acceptance: BatchAcceptance = {
    ...deps.acceptance,
    storeInOrder: async (all) => all.map(() => ({ kind: 'again' })),
  }
  const results = await sendBatch({ ...deps, acceptance }, [to(1), { ...to(2), idempotency_key: 'order-2' }], undefined)
  expect(results).toMatchObject([
    { refusal: { code: 'service_unavailable' } },
    { refusal: { code: 'idempotency_in_progress' } },
  ])
})

test('if reading a result fails, the stored messages are reported, and the others as unavailable', async () => {
  const shop = await sending.newShop(1)
  const acceptance = newAcceptance({ db: server.db, clock: server.clock })
  let isStored = false
  const failing: BatchAcceptance = {
    ...acceptance,
    async storeInOrder(all) {
      const outcomes = await acceptance.storeInOrder(all)
      isStored = true
      return outcomes
    },
    findStored: (request) =>
      isStored ? Promise.reject(new Error('the connection is lost')) : acceptance.findStored(request),
  }
  const deps = { ...(await depsOf(shop)), acceptance: failing }
  const results = await sendBatch(
    deps,
    [
      { ...to(1), idempotency_key: 'a' },
      { ...to(2), idempotency_key: 'b' },
    ],
    undefined,
  )
  expect(results.map((each) => (each.kind === 'accepted' ? each.message.to : each.refusal.code))).toEqual([
    to(1).to,
    'service_unavailable',
  ])
})

test('a dry run checks everything, and stores, spends and sends nothing', async () => {
  const shop = await sending.newShop(2)
  const { status, result } = await post(
    shop,
    { messages: [to(1), { ...text, to: 'x' }, to(2), to(3)] },
    { query: '?dry_run=true' },
  )
  expect(status).toBe(200)
  expect(result).toMatchObject({ dry_run: true, credits: 2, accepted: 2, rejected: 2 })
  expect(result.data.map(({ status }) => status)).toEqual([200, 400, 200, 402])
  const call = (body: unknown) =>
    processes.call(0, '/v1/messages?dry_run=true', { method: 'POST', key: shop.workspace.secret, body })
  expect(await call(to(1))).toMatchObject({ status: 200, body: { dry_run: true, credits: 1 } })
  expect(await call({ ...text, to: 'x' })).toMatchObject({ status: 400, body: { error: { param: 'to' } } })
  expect(await messagesOf(shop)).toEqual([])
  expect(await readBalance(server.db, shop.workspace.id)).toBe(2)
  const unknown = await processes.call(0, '/v1/messages?dry_run=1', {
    method: 'POST',
    key: shop.workspace.secret,
    body: to(1),
  })
  expect(unknown.status).toBe(400)
})

test('if a process dies in the middle of a batch, the same request sends the rest, each message once', async () => {
  const { db, start, startMortal, workspaceId, secret } = await newProcessShop()
  const [sender] = await db.rows<{ id: string }>('select id from senders order by id limit 1')
  const messages = many(500).map((message) => ({ ...message, sender_id: `snd_${sender?.id}` }))
  const body = JSON.stringify({ messages })
  const request = (url: string) =>
    fetch(`${url}/v1/messages/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'idempotency-key': 'night' },
      body,
    }).then((response) => response.json() as Promise<MessageBatchResult>)
  const stored = async () =>
    (
      await db.first<{ count: number }>('select count(*)::int as count from messages where workspace_id = $1', [
        workspaceId,
      ])
    )?.count ?? 0
  const killed = await startMortal()
  const first = request(killed.url).catch(() => null)
  while ((await stored()) === 0) await new Promise((resolve) => setImmediate(resolve))
  killed.kill()
  await first
  const before = await stored()
  const again = await start()
  expect(await request(again.url)).toMatchObject({ accepted: 500, rejected: 0 })
  expect(before).toBeGreaterThan(0)
  expect(await stored()).toBe(500)
  expect(await verifyLedger(db, newLogger('silent'))).toEqual([])
})
