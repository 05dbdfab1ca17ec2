import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { changeWebhook } from '../../../../../testing/change-webhook.ts'
import { anyTarget, localRules, newLine, openOf } from '../../../../../testing/deliveries.ts'
import { type Received, type Receiver, useReceivers } from '../../../../../testing/receiver.ts'
import { type ServiceHere, startHere } from '../../../../../testing/service-here.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { activateSecret, cancelRotation, rotateWebhook, stageRotation } from '../../../webhooks/rotation.ts'
import { deleteWebhook, disableWebhook, enableWebhook } from '../../../webhooks/webhooks.ts'
import { currentMs } from './targets.ts'

/** The maximum number of concurrent attempts of a process at one endpoint. */
const concurrencyMax = 64
const responseMs = 300
/** Events queued in each process: together fewer than deleting an endpoint deletes immediately. */
const queued = 250

const server = useTestServer()
const newReceiver = useReceivers()

/** A receiver that responds slowly and counts the requests it has not responded to yet. */
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

/** The open deliveries of the endpoint if it is disabled and no process has any of them in memory, otherwise false. */
async function heldOf(id: string) {
  const isHeld = await server.db.first(
    `select 1 from webhooks w where id = $1 and not enabled
       and not exists (select from deliveries d where d.webhook_id = w.id and d.lease is not null)`,
    [id.slice(4)],
  )
  return isHeld !== undefined && openOf(server, id)
}

test.each(['the CLI', 'the console'])(
  'every change made by %s raises the routing revision, and waits until no process uses an older one',
  async (by) => {
    const line = await newLine(server)
    const { id } = await line.listen(await newReceiver())
    const db = by === 'the console' ? server.db.within(line.workspace.id) : server.db
    const revision = async () => (await server.db.first<{ value: number }>('select value from routing_revision'))?.value
    const changes = [
      () => rotateWebhook(db, server.clock, server.secretKeys, id),
      () => stageRotation(db, server.secretKeys, id),
      () => cancelRotation(db, id),
      () => stageRotation(db, server.secretKeys, id),
      () => activateSecret(db, server.clock, id),
      () => changeWebhook(db, server.clock, server.secretKeys, anyTarget, id, { url: 'https://new.example/hook' }),
      () =>
        changeWebhook(db, server.clock, server.secretKeys, anyTarget, id, { headers: [{ name: 'X-A', value: '1' }] }),
      () => disableWebhook(db, server.clock, id, 'maintenance'),
      () => enableWebhook(db, server.clock, id),
      () => deleteWebhook(db, server.clock, id),
    ]
    for (const [index, change] of changes.entries()) {
      const before = await revision()
      const began = performance.now()
      await change()
      // What an enabled endpoint gets, it may get later.
      if (index !== 8) expect(performance.now() - began).toBeGreaterThan(currentMs)
      expect(await revision()).toBe(Number(before) + 1)
    }
  },
)

describe('in three processes, changed by a fourth', () => {
  let services: ServiceHere[] = []
  beforeAll(async () => {
    const key = server.secretKeys.get('test') as Buffer
    const env = { PARLEY_SECRET_KEYS: `test:${key.toString('base64')}` }
    services = await Promise.all([1, 2, 3].map(() => startHere(server.connection, env)))
  })
  afterAll(async () => void (await Promise.all(services.map((service) => service.stop()))))

  /**
   * Queues events in the memory of every process and waits until many are delivered. Call `allowed` after a change: it
   * returns how many attempts may still arrive that started before the change.
   */
  async function underLoad() {
    const receiver = await newSlowReceiver()
    const line = await newLine(server)
    const { id } = await line.listen(receiver)
    // One webhook per process: events that arrive while the endpoint's queue is full would not be leased to the process.
    for (const { url } of services) await line.write(queued, url)
    await until('many events are delivered', () => receiver.received.length > 50)
    const allowed = () => services.length * concurrencyMax - receiver.pending()
    return { receiver, id, total: services.length * queued, allowed }
  }

  test('after a rotation every new attempt is signed with the new secret', async () => {
    const { receiver, id, total, allowed } = await underLoad()
    const { secret } = await rotateWebhook(server.db, server.clock, server.secretKeys, id)
    const before = receiver.received.length
    const max = allowed()
    // More attempts begin after the change than may still have the old secret.
    expect(total - before).toBeGreaterThan(max)
    await until('all events arrive', () => receiver.received.length >= total)
    const outdated = receiver.received.slice(before).filter((got) => !isSignedWith(secret, got))
    expect(outdated.length).toBeLessThanOrEqual(max)
    expect(receiver.received).toHaveLength(total)
  })

  test('after an endpoint is disabled no attempt starts, and its events are held', async () => {
    const { receiver, id, total, allowed } = await underLoad()
    await disableWebhook(server.db, server.clock, id, 'maintenance')
    const before = receiver.received.length
    const max = allowed()
    const held = await until('the remaining deliveries are held', () => heldOf(id))
    expect(receiver.received.length - before).toBeLessThanOrEqual(max)
    expect(held.length + receiver.received.length).toBe(total)
  })

  test('after a change of the URL every new attempt goes to the new URL', async () => {
    const { receiver, id, total, allowed } = await underLoad()
    const next = await newSlowReceiver()
    await changeWebhook(server.db, server.clock, server.secretKeys, localRules, id, { url: next.url })
    const before = receiver.received.length
    const max = allowed()
    await until('all events arrive', () => receiver.received.length + next.received.length >= total)
    expect(receiver.received.length - before).toBeLessThanOrEqual(max)
    expect(receiver.received.length + next.received.length).toBe(total)
  })

  test('after an endpoint is deleted no attempt starts', async () => {
    const { receiver, id, allowed } = await underLoad()
    await deleteWebhook(server.db, server.clock, id)
    const before = receiver.received.length
    const max = allowed()
    await sleep(500)
    expect(receiver.received.length - before).toBeLessThanOrEqual(max)
    expect(await openOf(server, id)).toEqual([])
  })

  test('when one process disables an endpoint after twenty failures, the others start no attempt', async () => {
    const receiver = await newReceiver()
    receiver.behave((response) => void setTimeout(() => response.writeHead(500).end(), 5))
    const line = await newLine(server)
    const { id } = await line.listen(receiver)
    await Promise.all(services.map(({ url }) => line.write(queued, url)))
    const held = await until('its events are held', () => heldOf(id), 60_000)
    expect(held).toHaveLength(services.length * queued)
    const disabledAfter = receiver.received.length
    await sleep(500)
    // Until the first failures are recorded, each process has up to eight attempts in flight.
    expect(disabledAfter).toBeGreaterThanOrEqual(20)
    expect(disabledAfter).toBeLessThanOrEqual(20 + services.length * 8)
    expect(receiver.received.length).toBe(disabledAfter)
  })
})
