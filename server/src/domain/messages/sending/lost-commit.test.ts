import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '../../../../testing/call.ts'
import { startDatabaseProxy } from '../../../../testing/database-proxy.ts'
import { ledgerOf } from '../../../../testing/ledger.ts'
import { eventsOf } from '../../../../testing/network-app.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { serveApi, useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { type Db, openDatabase } from '../../../db/db.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { newNetwork } from '../../connections/network.ts'
import { verifyLedger } from '../../credits/verify-ledger.ts'
import { newOutbox, type OutboxOptions, recoverSends } from './outbox.ts'

const server = useTestServer()
const sending = useSending(server)
const log = newLogger('silent')

/** An outbox behind a proxy. */
async function behindProxy(options?: OutboxOptions) {
  const proxy = await startDatabaseProxy(server.connection)
  const db = openDatabase(proxy.connection, () => {}, 3)
  onTestFinished(() => db.close())
  const { clock, secretKeys } = server
  const network = newNetwork({ db, clock, secretKeys, client: sending.network.network.client })
  return { proxy, outbox: newOutbox(network, log, options) }
}

/** The statuses for which events were published. */
const publishedOf = async ({ workspace }: TestShop, id: string) =>
  (await eventsOf(server, workspace.id)).filter(({ data }) => data.message_id === id).map(({ data }) => data.status)

async function expectOnce(shop: TestShop, id: string, to: string, wanted: { last: string; taken: number }) {
  await sending.network.control.idle()
  expect(await shop.look(id)).toMatchObject({ status: wanted.last })
  expect(shop.taken(to)).toHaveLength(wanted.taken)
  const published = await publishedOf(shop, id)
  expect(published).toEqual([...new Set(published)])
  expect(published).toContain(wanted.last)
  const kinds = (await ledgerOf(server.db, shop.workspace.id)).map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'debit')).toHaveLength(1)
  expect(kinds.filter((kind) => kind === 'refund')).toHaveLength(wanted.last === 'failed' ? 1 : 0)
  expect(await verifyLedger(server.db, log)).toEqual([])
  expect(await server.db.rows('select 1 from outbox where message_id = $1', [id.slice(4)])).toEqual([])
}

const claiming = /update outbox o set state = 'claimed'/
const calling = /update outbox o set state = 'calling'/
const recording = /insert into message_statuses/
const requeuing = /update outbox o set state = 'waiting'/
const markingUnknown = /update outbox o set state = 'unknown'/

test.for([
  ['before the call was marked', '16505550201', calling, { last: 'read', taken: 1 }],
  ['after it was sent', '16505550202', recording, { last: 'read', taken: 1 }],
  ['after the network refused it', '15551131009', recording, { last: 'failed', taken: 0 }],
] as const)(
  'a message is sent or refunded once, without delay, if the connection is lost %s',
  async ([_, to, statement, wanted]) => {
    const shop = await sending.newShop()
    const { id } = await shop.sendText(to)
    const { proxy, outbox } = await behindProxy()
    const cut = proxy.cutAfterCommit(statement)
    await outbox.drain()
    await cut
    await expectOnce(shop, id, to, wanted)
  },
)

test.for([
  ['when it was claimed', '16505550203', claiming, { last: 'read', taken: 1 }],
  ['when it was queued again', '15552131000', requeuing, { last: 'read', taken: 1 }],
  ['when its outcome was unknown', '15559000003', markingUnknown, { last: 'failed', taken: 0 }],
] as const)('a message is sent or refunded once if the connection is lost %s', async ([_, to, statement, wanted]) => {
  const shop = await sending.newShop()
  const { id } = await shop.sendText(to)
  const { proxy, outbox } = await behindProxy()
  const cut = proxy.cutAfterCommit(statement)
  await outbox.drain().catch(() => {})
  await cut
  for (let round = 0; round < 5; round++) {
    server.clock.forward({ minutes: 61 })
    await outbox.drain()
  }
  await expectOnce(shop, id, to, wanted)
})

test.for([
  ['refused', '15551131009', { last: 'failed', taken: 0 }],
  ['refused for now', '15552131000', { last: 'read', taken: 1 }],
] as const)('the result of a message that was %s is recorded when the database is back', async ([_, to, wanted]) => {
  const shop = await sending.newShop()
  const { id } = await shop.sendText(to)
  const { proxy, outbox } = await behindProxy({
    onStep(step) {
      if (step !== 'responded') return
      proxy.cut()
      setTimeout(() => proxy.restore(), 400)
    },
  })
  expect(await outbox.sendDue()).toBe(1)
  await until('the result is recorded', async () => {
    const row = await server.db.first<{ state: string }>('select state from outbox where message_id = $1', [
      id.slice(4),
    ])
    return row?.state !== 'calling' && row?.state !== 'claimed'
  })
  server.clock.forward({ minutes: 5 })
  await sending.drain()
  await expectOnce(shop, id, to, wanted)
})

test('the result of a message that was refused for now is recorded while the process stops, when the database is back', async () => {
  const shop = await sending.newShop()
  const to = '15552131000'
  const { id } = await shop.sendText(to)
  let stopped: Promise<void> | null = null
  const { proxy, outbox } = await behindProxy({
    onStep(step) {
      if (step !== 'responded') return
      proxy.cut()
      setTimeout(() => proxy.restore(), 400)
      stopped = outbox.stop()
    },
  })
  await outbox.sendDue()
  await until('it stops', () => stopped !== null)
  await stopped
  expect(await server.db.rows('select state from outbox where message_id = $1', [id.slice(4)])).toEqual([
    { state: 'waiting' },
  ])
  server.clock.forward({ minutes: 5 })
  await sending.drain()
  await expectOnce(shop, id, to, { last: 'read', taken: 1 })
})

test('a message that failed while its process was frozen before the call is not sent when it wakes up', async () => {
  const shop = await sending.newShop()
  const to = '16505550206'
  const { id } = await shop.sendText(to)
  const { network } = sending.network
  let frozen = false
  const transactionAtOnce: Db['transactionAtOnce'] = async (work) => {
    let isCalling = false
    const result = await network.db.transactionAtOnce((tx) => {
      const rows: Db['rows'] = (text, values) => {
        isCalling ||= calling.test(text)
        return tx.rows(text, values)
      }
      return work({ ...tx, rows })
    })
    if (isCalling && !frozen) {
      frozen = true
      for (let round = 0; round < 2; round++) {
        server.clock.forward({ minutes: 61 })
        await recoverSends(server.db, server.clock)
      }
    }
    return result
  }
  await newOutbox({ ...network, db: { ...network.db, transactionAtOnce } }, log).drain()
  expect(frozen).toBe(true)
  await expectOnce(shop, id, to, { last: 'failed', taken: 0 })
})

test('a request with an Idempotency-Key that is repeated after a lost commit returns the message, debited once', async () => {
  const shop = await sending.newShop()
  const proxy = await startDatabaseProxy(server.connection)
  const api = await serveApi({ ...server, connection: proxy.connection }, log)
  onTestFinished(() => api.close())
  const body = { to: '16505550205', type: 'text', text: { body: 'hello' } }
  const headers = { 'idempotency-key': 'once' }
  const key = shop.workspace.secret
  const post = () => callApi(`${api.url}/v1/messages`, { method: 'POST', key, body, headers })
  const cut = proxy.cutAfterCommit(/insert into outbox/)
  expect((await post()).status).toBe(503)
  await cut
  const repeated = await post()
  expect(repeated.status).toBe(202)
  await sending.drain()
  await expectOnce(shop, (repeated.body as { id: string }).id, body.to, { last: 'read', taken: 1 })
})

test('concurrent requests whose commit gets no response are debited once each when they are repeated', async () => {
  const shops = [await sending.newShop(20), await sending.newShop(20)]
  const proxy = await startDatabaseProxy(server.connection)
  const api = await serveApi({ ...server, connection: proxy.connection }, log)
  onTestFinished(() => api.close())
  const cut = proxy.cutAfterCommit(/insert into outbox/)
  const postAll = () =>
    Promise.all(
      shops.flatMap(({ workspace: { secret: key } }, index) =>
        Array.from({ length: 10 }, (_, n) => {
          const body = { to: `1650555${index}5${n}0`, type: 'text', text: { body: 'hello' } }
          const headers = { 'idempotency-key': `key-${n}` }
          return callApi(`${api.url}/v1/messages`, { method: 'POST', key, body, headers })
        }),
      ),
    )
  const first = await postAll()
  await cut
  expect(first.map(({ status }) => status)).toContain(503)
  const second = await postAll()
  expect(second.map(({ status }) => status)).toEqual(Array(20).fill(202))
  for (const { workspace } of shops) {
    const kinds = (await ledgerOf(server.db, workspace.id)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'debit')).toHaveLength(10)
  }
  expect(await verifyLedger(server.db, log)).toEqual([])
  await sending.drain()
})
