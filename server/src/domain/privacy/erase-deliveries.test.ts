import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { attemptsOf, newLine, openOf, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { openTransaction } from '../../../testing/open-transaction.ts'
import { type Behaviour, useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { retryDelivery } from '../deliveries/retry.ts'
import { eraseDue } from './erase.ts'

const server = useTestServer()
const delivering = useDeliveryWorker(server, { deadlineMs: 10_000, bodyDeadlineMs: 10_000 })
const newReceiver = useReceivers()
/** Of the messages that `newLine` writes. */
const phone = '16505550123'

test('open deliveries of an erased person end, and what receivers responded is removed', async () => {
  const line = await newLine(server)
  const [failing, disabled] = [await newReceiver(), await newReceiver()]
  // It repeats what it got, as some error pages do.
  failing.behave((response, { body }) => response.writeHead(500, { 'x-from': phone }).end(body))
  // An empty body still has headers.
  failing.next((response) => response.writeHead(500, { 'x-from': phone }).end())
  const { id } = await line.listen(failing)
  const held = await line.listen(disabled)
  const admin = await signedIn(server, { workspaceId: line.workspace.id, role: 'admin' })
  const call = (path: string, options = {}) => admin.call(`/w/${line.workspace.id}/${path}`, options)
  await call(`webhooks/${held.id}/disable`, { method: 'POST', body: { reason: 'moving' } })
  await line.write(3)
  await delivering.worker.drain()
  const attempts = failing.received.length
  expect(attempts).toBeGreaterThan(2)
  const responses = () =>
    server.db.rows<{ answer: string; response_headers: string | null }>(
      `select convert_from(answer, 'UTF8') as answer, response_headers from delivery_attempts where workspace_id = $1`,
      [line.workspace.id],
    )
  const open = () => server.db.rows('select 1 from deliveries where workspace_id = $1', [line.workspace.id])
  expect(JSON.stringify(await responses())).toContain(phone)
  expect((await responses()).every(({ response_headers }) => response_headers?.includes(`x-from: ${phone}`))).toBe(true)
  expect(await open()).toHaveLength(6)

  expect((await call('erasures', { method: 'POST', body: { phone } })).status).toBe(202)
  await eraseDue(server.db, server.clock, newLogger('silent'))
  expect((await call('erasures')).body.data).toMatchObject([{ removed: { events: 3, deliveries: 6 } }])
  expect(await open()).toEqual([])
  for (const left of await responses()) expect(left).toEqual({ answer: '', response_headers: null })

  failing.behave(200)
  await call(`webhooks/${held.id}/enable`, { method: 'POST', body: {} })
  server.clock.forward({ hours: 1 })
  await delivering.worker.drain()
  expect([failing.received.length, disabled.received.length]).toEqual([attempts, 0])
  // The pages of the deliveries still work.
  const listed = await call(`deliveries?webhook=${id}`)
  expect(listed.status).toBe(200)
  for (const { event_id: event } of listed.body.data) {
    expect([200, 404]).toContain((await call(`deliveries/${event}/${id}`)).status)
  }
  await line.write()
  await delivering.worker.drain()
  expect([failing.received.length, disabled.received.length]).toEqual([attempts + 1, 1])
})

/** It repeats what it got. */
const repeat: Exclude<Behaviour, number> = (response, { body }) =>
  response.writeHead(500, { 'x-from': phone }).end(body)

/** An endpoint whose receiver responds once `respond` is called. */
async function newWaitingReceiver(behaviour = repeat) {
  const line = await newLine(server)
  const receiver = await newReceiver()
  const { id } = await line.listen(receiver, ['message.received'])
  const waiting: (() => void)[] = []
  receiver.behave((response, received) => void waiting.push(() => behaviour(response, received)))
  await line.write()
  await until('the attempt is in progress', () => waiting.length === 1)
  const admin = await signedIn(server, { workspaceId: line.workspace.id, role: 'admin' })
  const erase = async () => {
    const asked = await admin.call(`/w/${line.workspace.id}/erasures`, { method: 'POST', body: { phone } })
    expect(asked.status).toBe(202)
    await eraseDue(server.db, server.clock, newLogger('silent'))
  }
  const erasures = async () => (await admin.call(`/w/${line.workspace.id}/erasures`)).body.data
  const respond = () => {
    receiver.behave(200)
    for (const each of waiting) each()
  }
  return { id, line, receiver, erase, erasures, respond }
}

const responsesOf = async (id: string) => (await attemptsOf(server, id)).map(({ answer }) => answer.toString())

test('a response that arrives after its event was erased is not stored', async () => {
  const { id, erase, erasures, respond } = await newWaitingReceiver()
  await erase()
  expect(await erasures()).toMatchObject([{ ended_at: expect.any(String), removed: { events: 1, deliveries: 1 } }])
  respond()
  await delivering.worker.drain()
  const [first] = await responsesOf(id)
  expect(first).toBe('')
  expect((await attemptsOf(server, id))[0]).toMatchObject({ response_headers: null })
  expect((await responsesOf(id)).join()).not.toContain(phone)
})

test('a response whose delivery was retried by a user is stored', async () => {
  const { id, receiver, respond } = await newWaitingReceiver()
  await retryDelivery(server.db, server.clock, id, receiver.received[0]?.id ?? '')
  respond()
  await delivering.worker.drain()
  const attempts = await attemptsOf(server, id)
  expect(attempts.map(({ trigger, answer }) => [trigger, answer.toString().includes(phone)])).toContainEqual([
    'first',
    true,
  ])
})

test('the headers of an empty response whose delivery was retried by a user are stored', async () => {
  const { id, receiver, respond } = await newWaitingReceiver((response) =>
    response.writeHead(204, { 'x-from': phone }).end(),
  )
  await retryDelivery(server.db, server.clock, id, receiver.received[0]?.id ?? '')
  respond()
  await delivering.worker.drain()
  const first = (await attemptsOf(server, id)).find(({ trigger }) => trigger === 'first')
  expect(first).toMatchObject({ status: 204, response_headers: expect.stringContaining(`x-from: ${phone}`) })
})

test('an erasure waits for a delivery that is being recorded, and then removes its response too', async () => {
  const { id, line, erase, erasures, respond } = await newWaitingReceiver()
  const events = () => server.db.rows('select 1 from events where workspace_id = $1', [line.workspace.id])
  // As a recording does that has not committed yet.
  const recording = await openTransaction(server.db, async (tx) => {
    await tx.change(`delete from deliveries where webhook_id = $1`, [id.slice(4)])
    await tx.change(
      `insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state, answer, duration_us)
       select $2, id, $1, workspace_id, created_at, 8, 'retry', 'failed', body, 1 from events where workspace_id = $3`,
      [id.slice(4), server.clock.now(), line.workspace.id],
    )
  })
  await erase()
  expect(await erasures()).toMatchObject([{ ended_at: null }])
  expect(await events()).toHaveLength(1)
  await recording.commit()
  server.clock.forward({ seconds: 5 })
  await eraseDue(server.db, server.clock, newLogger('silent'))
  expect(await erasures()).toMatchObject([{ ended_at: expect.any(String), removed: { events: 1 } }])
  expect(await events()).toEqual([])
  respond()
  await delivering.worker.drain()
  expect(await openOf(server, id)).toEqual([])
  expect((await responsesOf(id)).join()).not.toContain(phone)
})
