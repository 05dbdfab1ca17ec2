import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ledgerOf } from '../../../../testing/ledger.ts'
import { mayIdle } from '../../../../testing/may-idle.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newUuid } from '../../../lib/ids.ts'
import { giveCredits, readBalance } from '../../credits/credits.ts'
import { setPrice } from '../../credits/prices.ts'
import { verifyLedger } from '../../credits/verify-ledger.ts'
import { maxPerDay } from './idempotency.ts'

const server = useTestServer()
const sending = useSending(server)

const text = { to: '16505550123', type: 'text', text: { body: 'hi' } }
const image = { to: '16505550123', type: 'image', image: { link: 'https://example.com/a.png' } }
const under = (key: string) => ({ 'idempotency-key': key })

const sendMany = (shop: TestShop, count: number, headers: (n: number) => Record<string, string> = () => ({})) =>
  Array.from({ length: count }, (_, n) => shop.send({ ...text, text: { body: `hi ${n}` } }, headers(n)))

const statusesOf = async (sends: readonly ReturnType<TestShop['send']>[]) =>
  (await Promise.all(sends)).map(({ status }) => status).sort()

/** How many transactions have stored the messages of these workspaces. */
async function transactionsOf(shops: readonly TestShop[]) {
  const row = await server.db.first<{ messages: number; transactions: number }>(
    `select count(*) as messages, count(distinct xmin::text) as transactions from messages
     where workspace_id = any($1::uuid[])`,
    [shops.map(({ workspace }) => workspace.id)],
  )
  return row ?? { messages: 0, transactions: 0 }
}

const keysUsed = async ({ workspace }: TestShop) =>
  await server.db.first(
    `select (select count(*) from idempotency_keys where workspace_id = $1) as stored,
       (select sum(used) from idempotency_days where workspace_id = $1) as counted`,
    [workspace.id],
  )

test('concurrent sends of several workspaces share transactions, and each has its own outcome', async () => {
  const [rich, poor, broke] = [await sending.newShop(100), await sending.newShop(2), await sending.newShop(0)]
  const shops = [rich, poor, broke]
  const sends = shops.map((shop) => sendMany(shop, 25))
  const invalid = rich.send({ ...text, to: 'x' })
  const [ofRich, ofPoor, ofBroke] = await Promise.all(sends.map(statusesOf))
  expect(ofRich).toEqual(Array(25).fill(202))
  expect(ofPoor).toEqual([...Array(2).fill(202), ...Array(23).fill(402)])
  expect(ofBroke).toEqual(Array(25).fill(402))
  expect((await invalid).status).toBe(400)
  const { messages, transactions } = await transactionsOf(shops)
  expect(messages).toBe(27)
  expect(transactions).toBeLessThan(messages)
  for (const [shop, balance] of [[rich, 75] as const, [poor, 0] as const, [broke, 0] as const]) {
    expect(await readBalance(server.db, shop.workspace.id)).toBe(balance)
  }
  // One entry for each message, and each has the balance after it.
  const debits = (await ledgerOf(server.db, rich.workspace.id)).filter(({ kind }) => kind === 'debit')
  expect(debits.map((entry) => Number(entry.balance_after))).toEqual(Array.from({ length: 25 }, (_, n) => 75 + n))
  expect(await verifyLedger(server.db)).toEqual([])
  await sending.drain()
})

test('a message that the workspace cannot pay for does not keep a cheaper one from being sent', async () => {
  const shop = await sending.newShop(3)
  await setPrice(server.db, 'image', 5)
  const responses = await Promise.all([shop.send(image), shop.send(text), shop.send(image), shop.send(text)])
  await setPrice(server.db, 'image', 1)
  expect(responses.map(({ status }) => status)).toEqual([402, 202, 402, 202])
  expect(await readBalance(server.db, shop.workspace.id)).toBe(1)
  expect(await verifyLedger(server.db)).toEqual([])
})

test('concurrent requests with the same Idempotency-Key and different bodies give one message and 422 for the others', async () => {
  const shop = await sending.newShop(10)
  const statuses = await statusesOf(sendMany(shop, 10, () => under('same')))
  expect(statuses).toEqual([202, ...Array(9).fill(422)])
  expect(await readBalance(server.db, shop.workspace.id)).toBe(9)
})

test('concurrent requests that are refused leave their Idempotency-Keys free', async () => {
  const [shop, other] = [await sending.newShop(1), await sending.newShop(10)]
  const keys = (n: number) => under(`key-${n}`)
  const [statuses] = await Promise.all([statusesOf(sendMany(shop, 8, keys)), statusesOf(sendMany(other, 8, keys))])
  expect(statuses).toEqual([202, ...Array(7).fill(402)])
  expect(await keysUsed(shop)).toEqual({ stored: 1, counted: 1 })
  expect(await keysUsed(other)).toEqual({ stored: 8, counted: 8 })
  await giveCredits(server.db, server.clock, shop.workspace.id, 7, 'test')
  const again = await Promise.all(sendMany(shop, 8, keys))
  expect(again.map(({ status }) => status)).toEqual(Array(8).fill(202))
  expect(again.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(1)
  expect(await keysUsed(shop)).toEqual({ stored: 8, counted: 8 })
})

test('concurrent requests beyond the daily limit of keys get 429, and those without a key are sent', async () => {
  const [shop, other] = [await sending.newShop(20), await sending.newShop(20)]
  await shop.send(text, under('first'))
  const set = 'update idempotency_days set used = $2 where workspace_id = $1'
  await server.db.change(set, [shop.workspace.id, maxPerDay])
  const keys = (n: number) => under(`key-${n}`)
  const sends = [sendMany(shop, 8, keys), sendMany(shop, 8), sendMany(other, 8, keys)]
  const statuses = await Promise.all(sends.map(statusesOf))
  expect(statuses).toEqual([Array(8).fill(429), Array(8).fill(202), Array(8).fill(202)])
  expect(await keysUsed(shop)).toEqual({ stored: 1, counted: maxPerDay })
  expect(await readBalance(server.db, shop.workspace.id)).toBe(11)
})

test('a workspace whose balance another transaction holds does not keep the others from sending', async () => {
  const [stuck, other] = [await sending.newShop(10), await sending.newShop(50)]
  let blocked: ReturnType<TestShop['send']>[] = []
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('select 1 from credit_balances where workspace_id = $1 for update', [stuck.workspace.id])
    blocked = sendMany(stuck, 3)
    for (let round = 0; round < 3; round++) {
      expect(await statusesOf(sendMany(other, 5))).toEqual(Array(5).fill(202))
      blocked.push(...sendMany(stuck, 1))
    }
  })
  expect(await statusesOf(blocked)).toEqual(Array(6).fill(202))
  expect(await readBalance(server.db, stuck.workspace.id)).toBe(4)
  // And they share transactions again.
  await Promise.all([...sendMany(stuck, 3), ...sendMany(other, 10)])
  expect(await verifyLedger(server.db)).toEqual([])
})

test('concurrent requests cannot use senders and templates of another workspace', async () => {
  const shops = [await sending.newShop(10), await sending.newShop(10)]
  const templates = await Promise.all(
    shops.map(async ({ workspace }) => {
      const { body } = await workspace.call('/v1/templates?name=greeting')
      return (body as { data: { id: string }[] }).data[0]?.id
    }),
  )
  const sends = shops.flatMap((shop, own) =>
    shops.flatMap(({ senderId: sender_id }, named) => {
      const template = { id: templates[named], variables: { 'body.1': 'Ana' } }
      const bodies = [
        { ...text, sender_id },
        { to: text.to, type: 'template', template },
      ]
      return bodies.map(async (body) => ({ isOwn: own === named, ...(await shop.send(body)) }))
    }),
  )
  for (const { isOwn, status, body } of await Promise.all(sends)) {
    expect(status).toBe(isOwn ? 202 : 400)
    if (!isOwn) expect(body).toMatchObject({ error: { errors: [{ code: 'not_found' }] } })
  }
  for (const { workspace } of shops) expect(await readBalance(server.db, workspace.id)).toBe(8)
})

test.each([
  { id: `tpl_${newUuid()}`, name: 123 },
  { id: `tpl_${newUuid()}`, name: 'greeting', language: { length: 400_000_000 } },
  { id: 5, name: 'greeting', language: 'en' },
  { name: 'a\0b', language: 'en' },
])('an invalid template, such as %j, does not affect the requests that are read with it', async (template) => {
  const [shop, other] = [await sending.newShop(), await sending.newShop()]
  const invalid = Array.from({ length: 5 }, () => shop.send({ ...text, type: 'template', template }))
  expect(await statusesOf([...sendMany(other, 20), ...invalid])).toEqual([
    ...Array(20).fill(202),
    ...Array(5).fill(400),
  ])
})

test('a repeat of the request that used the last credits gets the same response', async () => {
  const shop = await sending.newShop(1)
  const send = () => shop.send(text, under('last'))
  const sends = await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('select 1 from credit_balances where workspace_id = $1 for update', [shop.workspace.id])
    const first = send()
    await until('it waits for the balance', async () => {
      const waiting = await server.db.rows(`select 1 from pg_stat_activity where wait_event_type = 'Lock'`)
      return waiting.length > 0
    })
    // Reads that nothing is stored under the key, and is stored after the first one.
    const second = send()
    await sleep(100)
    return [first, second]
  })
  const [first, second] = await Promise.all(sends)
  expect([first?.status, second?.status]).toEqual([202, 202])
  expect(second?.body).toEqual(first?.body)
})
