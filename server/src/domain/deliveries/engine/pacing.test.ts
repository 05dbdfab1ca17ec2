import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { attemptsOf, type Line, newDeliveryWorker, newLine, openOf } from '../../../../testing/deliveries.ts'
import { type Receiver, useReceivers } from '../../../../testing/receiver.ts'
import { type ServiceProcess, spawnService } from '../../../../testing/service.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { sendTestEvent } from '../../webhooks/test-event.ts'
import { enableWebhook } from '../../webhooks/webhooks.ts'
import { retryDelivery } from '../retry.ts'

const server = useTestServer()
const newReceiver = useReceivers()

const stateOf = async (id: string) =>
  server.db.first<{ enabled: boolean; failures: number; disabled_reason: string | null }>(
    'select enabled, failures, disabled_reason from webhooks where id = $1',
    [id.slice(4)],
  )

describe('with a clock that tests move', () => {
  async function newEndpoint() {
    const worker = newDeliveryWorker(server, { deadlineMs: 10_000 })
    onTestFinished(() => worker.stop(0))
    const receiver = await newReceiver()
    const line = await newLine(server)
    return { worker, receiver, line, ...(await line.listen(receiver)) }
  }

  test('from the fifth failure in a row an endpoint gets one attempt every two seconds, and is disabled after exactly twenty', async () => {
    const { worker, receiver, line, id } = await newEndpoint()
    receiver.behave(503)
    for (let count = 0; count < 30; count++) await line.write()
    await worker.drain()
    const before = receiver.received.length
    // Up to eight attempts are in progress when the first one fails.
    expect(before).toBeGreaterThanOrEqual(5)
    expect(before).toBeLessThanOrEqual(8)
    for (let made = before; made < 20; made++) {
      server.clock.forward({ seconds: 1 })
      await worker.drain()
      expect(receiver.received).toHaveLength(made)
      server.clock.forward({ seconds: 1 })
      await worker.drain()
      expect(receiver.received).toHaveLength(made + 1)
    }
    expect(await stateOf(id)).toMatchObject({ enabled: false, failures: 20 })
    server.clock.forward({ hours: 12 })
    await worker.drain()
    expect(receiver.received).toHaveLength(20)
    expect(await openOf(server, id)).toHaveLength(30)
    receiver.behave(200)
    await enableWebhook(server.db, server.clock, id)
    await worker.drain()
    expect(new Set(receiver.received.slice(20).map((got) => got.id)).size).toBe(30)
    expect(await openOf(server, id)).toEqual([])
  })

  test('one success ends the pacing, and everything that waited is delivered', async () => {
    const { worker, receiver, line, id } = await newEndpoint()
    receiver.behave(503)
    for (let count = 0; count < 30; count++) await line.write()
    await worker.drain()
    const before = receiver.received.length
    receiver.behave(200)
    server.clock.forward({ seconds: 2 })
    await worker.drain()
    expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 0 })
    // Those that have failed twice are due ten seconds later.
    server.clock.forward({ seconds: 10 })
    await worker.drain()
    expect(receiver.received).toHaveLength(before + 30)
    expect(new Set(receiver.received.slice(before).map((got) => got.id)).size).toBe(30)
  })

  /** Answers the first requests, and leaves those after them in progress until `fail` is called. */
  function stopAnswering(receiver: Receiver, answered = 300) {
    const pending: (() => void)[] = []
    receiver.behave((response) => {
      if (receiver.received.length <= answered) response.end()
      else pending.push(() => response.writeHead(503).end())
    })
    return {
      pending,
      fail() {
        receiver.behave(503)
        for (const answer of pending) answer()
      },
    }
  }

  test('of 64 attempts in progress when a receiver goes down sixteen count, and it gets four more', async () => {
    const { worker, receiver, line, id } = await newEndpoint()
    const { pending, fail } = stopAnswering(receiver)
    await line.write(600)
    await until('as many attempts as allowed are in progress', () => pending.length >= 64)
    await sleep(200)
    expect(pending).toHaveLength(64)
    fail()
    await worker.drain()
    expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 16 })
    for (let paced = 0; paced < 10; paced++) {
      server.clock.forward({ seconds: 2 })
      await worker.drain()
    }
    expect(await stateOf(id)).toMatchObject({ enabled: false, failures: 20 })
    expect(receiver.received).toHaveLength(300 + 64 + 4)
  })

  test('a receiver that restarts for four seconds under heavy traffic stays enabled', async () => {
    const { worker, receiver, line, id } = await newEndpoint()
    const { pending, fail } = stopAnswering(receiver)
    await line.write(600)
    await until('many attempts are in progress', () => pending.length >= 16)
    fail()
    await worker.drain()
    for (let paced = 0; paced < 2; paced++) {
      server.clock.forward({ seconds: 2 })
      await worker.drain()
    }
    receiver.behave(200)
    for (const seconds of [2, 10, 60]) {
      server.clock.forward({ seconds })
      await worker.drain()
    }
    expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 0 })
    expect(await openOf(server, id)).toEqual([])
  })

  test('more than twenty attempts that were in progress in two processes do not disable an endpoint when they fail', async () => {
    const receiver = await newReceiver()
    const line = await newLine(server)
    const { id } = await line.listen(receiver)
    const { pending, fail } = stopAnswering(receiver, 100)
    await line.write(900)
    const workers = [1, 2].map(() => newDeliveryWorker(server, { deadlineMs: 10_000 }))
    onTestFinished(async () => void (await Promise.all(workers.map((worker) => worker.stop(0)))))
    for (const worker of workers) await worker.claim()
    await until('many attempts are in progress', () => pending.length > 20)
    fail()
    await Promise.all(workers.map((worker) => worker.drain()))
    expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 16 })
  })

  test('when a delivery expires with its event, the turn of its failing endpoint goes to the next delivery', async () => {
    const { worker, receiver, line, id } = await newEndpoint()
    receiver.behave(503)
    for (let count = 0; count < 30; count++) await line.write()
    await worker.drain()
    const before = receiver.received.length
    await server.db.change('delete from events where id in (select event_id from deliveries where webhook_id = $1)', [
      id.slice(4),
    ])
    await line.write()
    receiver.behave(200)
    server.clock.forward({ seconds: 2 })
    await worker.drain()
    expect(receiver.received.length).toBeGreaterThan(before)
    expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 0 })
  })

  test('a test event and a manual retry are the next attempts at a failing endpoint', async () => {
    const { worker, receiver, line, id } = await newEndpoint()
    receiver.behave(503)
    for (let count = 0; count < 30; count++) await line.write()
    await worker.drain()
    server.clock.forward({ seconds: 2 })
    const eventId = await sendTestEvent(server.db, server.clock, id)
    await worker.drain()
    expect(receiver.received.at(-1)?.id).toBe(eventId)
    const waiting = (await openOf(server, id)).at(-1)?.event_id ?? ''
    server.clock.forward({ seconds: 1 })
    await retryDelivery(server.db, server.clock, id, waiting)
    await worker.drain()
    expect(receiver.received.at(-1)?.id).toBe(eventId)
    server.clock.forward({ seconds: 1 })
    await worker.drain()
    expect(receiver.received.at(-1)?.id).toBe(waiting)
  })

  test('a failed test event does not count as a failure, and a successful one does not reset the count', async () => {
    const { worker, receiver, line, id } = await newEndpoint()
    receiver.behave(500)
    await line.write(2)
    await worker.drain()
    expect(await stateOf(id)).toMatchObject({ failures: 4 })
    for (let count = 0; count < 25; count++) await sendTestEvent(server.db, server.clock, id)
    await worker.drain()
    expect(receiver.received).toHaveLength(29)
    expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 4 })
    receiver.behave(200)
    await sendTestEvent(server.db, server.clock, id)
    await worker.drain()
    expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 4 })
  })
})

describe('in two processes, on the real clock', () => {
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

  /** Writes twelve messages a second, to both processes in turn. */
  async function writeFor(line: Line, seconds: number): Promise<number> {
    const count = seconds * 12
    const sent: Promise<void>[] = []
    for (let index = 0; index < count; index++) {
      sent.push(line.write(1, services[index % 2]?.url))
      await sleep(1000 / 12)
    }
    await Promise.all(sent)
    return count
  }

  test('a receiver that restarts for four seconds under twelve messages a second stays enabled and gets all of them', async () => {
    const ids = new Set<string>()
    let closed: Server | undefined
    const listen = (port: number) =>
      new Promise<Server>((resolve) => {
        const receiver = createServer((request, response) => {
          request.resume().on('end', () => {
            ids.add(String(request.headers['service-delivery']))
            response.end()
          })
        }).listen(port, '127.0.0.1', () => resolve(receiver))
      })
    const first = await listen(0)
    const { port } = first.address() as AddressInfo
    const line = await newLine(server)
    const { id } = await line.listen({ url: `http://127.0.0.1:${port}/hook` })
    const writing = writeFor(line, 8)
    await sleep(2_000)
    first.close()
    first.closeAllConnections()
    await sleep(4_000)
    closed = await listen(port)
    onTestFinished(() => void closed?.close().closeAllConnections())
    const count = await writing
    await until('all events arrive', () => ids.size === count, 20_000)
    expect(await stateOf(id)).toMatchObject({ enabled: true, failures: 0 })
    const failed = (await attemptsOf(server, id)).filter(({ state }) => state !== 'delivered')
    expect(failed.length).toBeGreaterThanOrEqual(5)
    expect(failed.length).toBeLessThan(12)
  })

  test('a receiver that stays down gets exactly twenty attempts, those after the fifth two seconds apart', async () => {
    const receiver = await newReceiver()
    receiver.behave(503)
    const line = await newLine(server)
    const { id } = await line.listen(receiver)
    await writeFor(line, 2)
    await until('the endpoint is disabled', async () => (await stateOf(id))?.enabled === false, 60_000)
    await sleep(3_000)
    expect(receiver.received).toHaveLength(20)
    const attempts = await attemptsOf(server, id)
    expect(attempts).toHaveLength(20)
    const paced = attempts.slice(-10)
    for (const [index, attempt] of paced.slice(1).entries()) {
      const previous = paced[index] as (typeof paced)[number]
      const gapMs = attempt.at.getTime() - previous.at.getTime() - previous.duration_us / 1000
      expect(gapMs).toBeGreaterThanOrEqual(1_990)
    }
  })
})
