import type { Message } from '@parley/contract/message'
import { expect, test } from 'vitest'
import { useProcesses } from '../../../../testing/processes.ts'
import { useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { giveCredits, readBalance } from '../../credits/credits.ts'
import { verifyLedger } from '../../credits/verify-ledger.ts'
import { deleteOldResponses, maxPerDay } from './idempotency.ts'

const server = useTestServer()
const processes = useProcesses(server)
const sending = useSending(server)

const text = { to: '16505550123', type: 'text', text: { body: 'hi' } }
const under = (key: string) => ({ 'idempotency-key': key })

const messagesOf = (workspaceId: string) =>
  server.db.rows('select id from messages where workspace_id = $1', [workspaceId])

test('50 parallel sends with one key over three processes give one message, one debit and 50 equal responses', async () => {
  const { workspace } = await sending.newShop(10)
  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      processes.call(index, '/v1/messages', {
        method: 'POST',
        key: workspace.secret,
        headers: under('order-1001'),
        body: text,
      }),
    ),
  )
  expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(202))
  expect(new Set(responses.map(({ body }) => JSON.stringify(body))).size).toBe(1)
  expect(responses.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(49)
  expect(await messagesOf(workspace.id)).toHaveLength(1)
  expect(await readBalance(server.db, workspace.id)).toBe(9)
  expect(await verifyLedger(server.db, newLogger('silent'))).toEqual([])
})

test('parallel sends over three processes do not spend more credits than there are', async () => {
  const { workspace } = await sending.newShop(10)
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      processes.call(index, '/v1/messages', { method: 'POST', key: workspace.secret, body: text }),
    ),
  )
  const count = (code: number) => responses.filter(({ status }) => status === code).length
  expect([count(202), count(402)]).toEqual([10, 50])
  expect(await readBalance(server.db, workspace.id)).toBe(0)
  expect(await verifyLedger(server.db, newLogger('silent'))).toEqual([])
})

test('the first response is replayed for a day, even if the message and its template have changed since', async () => {
  const shop = await sending.newShop()
  const template = { name: 'greeting', language: 'en', variables: { 'body.1': 'Ana' } }
  const body = { to: '16505550123', type: 'template', template }
  const first = await shop.send(body, under('a'))
  expect(first.headers.get('idempotent-replayed')).toBeNull()
  await sending.drain()
  await server.db.change(`update templates set status = 'PAUSED' where workspace_id = $1`, [shop.workspace.id])
  server.clock.forward({ hours: 24 })
  await deleteOldResponses(server.db, server.clock)
  const { type, to } = body
  for (const same of [body, { template, type, to }]) {
    const again = await shop.send(same, under('a'))
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
    expect(again.body).toEqual(first.body)
  }
  expect(await messagesOf(shop.workspace.id)).toHaveLength(1)
  server.clock.forward({ hours: 2 })
  await deleteOldResponses(server.db, server.clock)
  expect((await shop.send(text, under('a'))).headers.get('idempotent-replayed')).toBeNull()
})

test('a response that was stored without fields of the current schema is replayed with null for them', async () => {
  const shop = await sending.newShop()
  const first = await shop.send(text, under('a'))
  const { to_user_id: _, pricing: __, ...stored } = first.body as Message
  await server.db.change(`update idempotency_keys set answer = $2 where workspace_id = $1`, [
    shop.workspace.id,
    JSON.stringify(stored),
  ])
  const again = await shop.send(text, under('a'))
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
  expect(again.body).toEqual(first.body)
})

test('another body with the same key gets 422 and costs nothing', async () => {
  const { send, workspace } = await sending.newShop(5)
  await send(text, under('a'))
  const { status, body } = await send({ ...text, text: { body: 'ho' } }, under('a'))
  expect([status, body]).toMatchObject([422, { error: { code: 'idempotency_key_reused' } }])
  expect(await readBalance(server.db, workspace.id)).toBe(4)
})

test('a key can be used again after an error', async () => {
  const { send, workspace } = await sending.newShop(0)
  expect((await send({ ...text, to: 'invalid' }, under('a'))).status).toBe(400)
  expect((await send(text, under('a'))).status).toBe(402)
  await giveCredits(server.db, server.clock, workspace.id, 1, 'test')
  const { status, headers } = await send(text, under('a'))
  expect([status, headers.get('idempotent-replayed')]).toEqual([202, null])
})

test('idempotency keys are scoped to an API key', async () => {
  const [ours, theirs] = [await sending.newShop(), await sending.newShop()]
  const { secret } = await ours.workspace.newKey()
  const ids = [
    await ours.send(text, under('a')),
    await theirs.send(text, under('a')),
    await server.call('/v1/messages', { method: 'POST', key: secret, headers: under('a'), body: text }),
  ].map(({ body }) => (body as Message).id)
  expect(new Set(ids).size).toBe(3)
})

test.each(['', 'a b', '\u00fc', 'x'.repeat(256)])(
  'the key "%s" gets 400 together with the other errors',
  async (key) => {
    const { send } = await sending.newShop()
    const { status, body } = await send({ ...text, to: 'x' }, under(key))
    expect(status).toBe(400)
    const { errors } = (body as { error: { errors: { param: string }[] } }).error
    expect(errors.map(({ param }) => param)).toEqual(['to', 'Idempotency-Key'])
  },
)

test('more keys than the daily limit get 429', async () => {
  const { send, workspace } = await sending.newShop()
  await send(text, under('a'))
  await server.db.change('update idempotency_days set used = $2 where workspace_id = $1', [workspace.id, maxPerDay])
  expect((await send(text, under('b'))).status).toBe(429)
  expect((await send(text)).status).toBe(202)
  expect((await send(text, under('a'))).headers.get('idempotent-replayed')).toBe('true')
})
