import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anyTarget, localRules, newDeliveryWorker, newLine, openOf } from '../../../../testing/deliveries.ts'
import { type Received, type Receiver, useReceivers } from '../../../../testing/receiver.ts'
import { type ServiceProcess, spawnService } from '../../../../testing/service.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { changeWebhook, deleteWebhook, disableWebhook, enableWebhook, rotateWebhook } from '../../webhooks/webhooks.ts'
import type { DeliveryWorker } from './worker.ts'

/** The most attempts that one process has under way for one endpoint. */
const widthMax = 64
const responseMs = 30
/** Events queued in each process. */
const queued = 2_000

const server = useTestServer()
const newReceiver = useReceivers()

/** A receiver that takes its time to respond and knows how many requests it has not responded to. */
interface SlowReceiver extends Receiver {
  pending(): number
}

async function newSlowReceiver(): Promise<SlowReceiver> {
  const receiver = await newReceiver()
  let pending = 0
  receiver.behave((response) => {
    pending++
    setTimeout(() => {
      pending--
      response.end()
    }, responseMs)
  })
  return { ...receiver, pending: () => pending }
}

function isSignedWith(secret: string, { body, headers }: Received): boolean {
  const [time = '', signature = ''] = String(headers['service-signature'])
    .split(',')
    .map((part) => part.slice(part.indexOf('=') + 1))
  return createHmac('sha256', secret).update(`${time}.${body}`).digest('hex') === signature
}

/** The deliveries of the endpoint that are not finished, once all of them are held. */
async function heldOf(id: string) {
  const open = await openOf(server, id)
  return open.every(({ due }) => due === 'infinity') && open
}

/** The same promises in one process and in two; `urls` are the processes that deliver. */
function describeChanges(urls: () => string[]): void {
  /**
   * Queues events in the memory of every process and waits until deliveries are in full swing. `allowed` is called when a
   * change is confirmed: attempts that began earlier and have not arrived yet, at most.
   */
  async function underLoad() {
    const receiver = await newSlowReceiver()
    const line = await newLine(server)
    const { id } = await line.listen(receiver)
    // In one webhook each: what comes when the queue of an endpoint is full would not be leased to the process.
    for (const url of urls()) await line.write(queued, url)
    await until('deliveries are in full swing', () => receiver.received.length > 200)
    const allowed = () => urls().length * widthMax - receiver.pending()
    return { receiver, id, total: urls().length * queued, allowed }
  }

  test('after a rotation every attempt that begins is signed with the new secret', async () => {
    const { receiver, id, total, allowed } = await underLoad()
    const { secret } = await rotateWebhook(server.db, server.secretKeys, id)
    const before = receiver.received.length
    const most = allowed()
    expect(before).toBeLessThan(total / 2)
    await until('all events arrive', () => receiver.received.length >= total)
    const outdated = receiver.received.slice(before).filter((got) => !isSignedWith(secret, got))
    expect(outdated.length).toBeLessThanOrEqual(most)
    expect(receiver.received).toHaveLength(total)
  })

  test('after an endpoint is disabled no attempt begins, and its events are held', async () => {
    const { receiver, id, total, allowed } = await underLoad()
    await disableWebhook(server.db, id, 'maintenance')
    const before = receiver.received.length
    const most = allowed()
    await sleep(1_500)
    expect(receiver.received.length - before).toBeLessThanOrEqual(most)
    const held = await until('what is left is held', () => heldOf(id))
    expect(held.length + receiver.received.length).toBe(total)
  })

  test('after the URL changed every attempt that begins goes to the new one', async () => {
    const { receiver, id, total, allowed } = await underLoad()
    const next = await newSlowReceiver()
    await changeWebhook(server.db, localRules, id, { url: next.url })
    const before = receiver.received.length
    const most = allowed()
    await until('all events arrive', () => receiver.received.length + next.received.length >= total)
    expect(receiver.received.length - before).toBeLessThanOrEqual(most)
    expect(receiver.received.length + next.received.length).toBe(total)
  })

  test('after an endpoint is deleted no attempt begins', async () => {
    const { receiver, id, allowed } = await underLoad()
    await deleteWebhook(server.db, server.clock, id)
    const before = receiver.received.length
    const most = allowed()
    await sleep(1_500)
    expect(receiver.received.length - before).toBeLessThanOrEqual(most)
    expect(await openOf(server, id)).toEqual([])
  })
}

test.each(['the CLI', 'the console'])('every change made by %s raises the routing revision', async (by) => {
  const line = await newLine(server)
  const { id } = await line.listen(await newReceiver())
  const db = by === 'the console' ? server.db.within(line.workspace.id) : server.db
  const revision = async () => (await server.db.first<{ value: number }>('select value from routing_revision'))?.value
  const changes = [
    () => rotateWebhook(db, server.secretKeys, id),
    () => changeWebhook(db, anyTarget, id, { url: 'https://new.example/hook' }),
    () => disableWebhook(db, id, 'maintenance'),
    () => enableWebhook(db, server.clock, id),
    () => deleteWebhook(db, server.clock, id),
  ]
  for (const change of changes) {
    const before = await revision()
    await change()
    expect(await revision()).toBe(Number(before) + 1)
  }
})

describe('in one process', () => {
  let worker: DeliveryWorker
  beforeAll(() => {
    worker = newDeliveryWorker(server, { deadlineMs: 10_000 })
  })
  afterAll(() => worker.stop(0))

  describeChanges(() => [server.url])
})

describe('in two processes, changed by a third', () => {
  let services: ServiceProcess[] = []
  beforeAll(async () => {
    const key = server.secretKeys.get('test') as Buffer
    const env = {
      PARLEY_SECRET_KEYS: `test:${key.toString('base64')}`,
      PARLEY_WEBHOOK_ALLOW_HTTP: 'true',
      PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    }
    services = await Promise.all([1, 2].map(() => spawnService(server.connection, env)))
  })
  afterAll(async () => void (await Promise.all(services.map((service) => service.stop()))))

  describeChanges(() => services.map(({ url }) => url))

  test('when one process disables an endpoint after twenty failures, the other begins no attempt', async () => {
    const receiver = await newReceiver()
    receiver.behave((response) => void setTimeout(() => response.writeHead(500).end(), 5))
    const line = await newLine(server)
    const { id } = await line.listen(receiver)
    await Promise.all(services.map(({ url }) => line.write(queued, url)))
    const held = await until('its events are held', () => heldOf(id))
    expect(held).toHaveLength(2 * queued)
    const disabledAfter = receiver.received.length
    await sleep(1_000)
    // Until the first failures are recorded each process has up to eight attempts under way.
    expect(disabledAfter).toBeLessThanOrEqual(20 + 2 * 8)
    expect(receiver.received.length).toBe(disabledAfter)
  })
})
