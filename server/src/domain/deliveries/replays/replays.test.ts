import { expect, test } from 'vitest'
import { attemptsOf, newDeliveryWorker, newLine, openOf, useDeliveryWorker } from '../../../../testing/deliveries.ts'
import { type Received, useReceivers } from '../../../../testing/receiver.ts'
import { newReplayRunner, useReplays } from '../../../../testing/replays.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { sendTestEvent } from '../../webhooks/test-event.ts'
import { deleteWebhook, disableWebhook, enableWebhook } from '../../webhooks/webhooks.ts'
import { resumeWorkspace, suspendWorkspace } from '../../workspaces/workspaces.ts'
import { retryDelivery } from '../retry.ts'
import { cancelReplay } from './replays.ts'

const server = useTestServer()
/** On a busy machine a receiver may take long. A timeout would be another attempt. */
const patient = { deadlineMs: 30_000 }
const deliveries = useDeliveryWorker(server, patient)
const replays = useReplays(server, deliveries)
const newReceiver = useReceivers()
const drain = () => deliveries.worker.drain()

const idsOf = (received: readonly Received[]) => received.map(({ id }) => id)

/** The events of a workspace, oldest first. */
async function eventsOf(workspaceId: string): Promise<string[]> {
  const rows = await server.db.rows<{ id: string }>(
    `select id from events where workspace_id = $1 and type = 'message.received' order by created_at, id`,
    [workspaceId],
  )
  return rows.map(({ id }) => id)
}

/** A workspace with events, and an endpoint that was created after them. */
async function newLateEndpoint(events: number) {
  const receiver = await newReceiver()
  const line = await newLine(server)
  for (let n = 0; n < events; n += 10) {
    await line.write(Math.min(10, events - n))
    server.clock.forward({ seconds: 1 })
  }
  return { receiver, line, ...(await line.listen(receiver, ['message.received'])) }
}

/** An endpoint whose first event has failed permanently, and whose second was delivered. */
async function newEndpointWithFailure() {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const endpoint = await line.listen(receiver, ['message.received'])
  receiver.behave(500)
  await line.write()
  await drain()
  for (const seconds of [10, 60, 300, 1800, 7200, 21_600]) {
    server.clock.forward({ seconds: seconds + 2 })
    await drain()
  }
  receiver.behave(200)
  server.clock.forward({ seconds: 5 })
  await line.write()
  await drain()
  const [failed = '', delivered = ''] = await eventsOf(line.workspace.id)
  expect((await attemptsOf(server, endpoint.id)).filter(({ event_id }) => event_id === failed).at(-1)?.state).toBe(
    'failed',
  )
  receiver.received.splice(0)
  return { receiver, line, failed, delivered, ...endpoint }
}

test('a replay sends earlier events to a new endpoint, oldest first, each once with its own ID and the ID of the replay', async () => {
  const { receiver, line, id } = await newLateEndpoint(60)
  const events = await eventsOf(line.workspace.id)
  const started = await replays.start(id, { only: 'missing' })
  expect(started).toMatchObject({ webhook_id: id, state: 'running', delivered: 0, failed: 0, rate: 1_000 })
  const ended = await replays.run(started.id)
  expect(ended).toMatchObject({ state: 'completed', total: 60, delivered: 60, failed: 0, counting: false })
  expect(idsOf(receiver.received).sort()).toEqual([...events].sort())
  // Several are sent at the same time, so each arrives about in its place. In a random order they would be 20 places off.
  const places = idsOf(receiver.received).map((eventId, index) => Math.abs(events.indexOf(eventId) - index))
  expect(places.reduce((sum, off) => sum + off, 0) / places.length).toBeLessThan(10)
  for (const { headers, body, id: eventId } of receiver.received) {
    expect(headers['service-replay']).toBe(started.id)
    expect(headers['webhook-id']).toBe(eventId)
    expect(JSON.parse(body).id).toBe(eventId)
  }
  expect(new Set((await attemptsOf(server, id)).map(({ trigger }) => trigger))).toEqual(new Set(['replay']))
  expect(await openOf(server, id)).toEqual([])
})

test('an event that fails in a replay gets a full schedule; its retries name the replay; new events do not', async () => {
  const { receiver, line, id } = await newLateEndpoint(1)
  receiver.next(500)
  const { id: replayId } = await replays.start(id, { only: 'all' })
  expect(await replays.run(replayId)).toMatchObject({ state: 'completed', total: 1, delivered: 1, failed: 0 })
  expect(receiver.received.map(({ headers }) => headers['service-replay'])).toEqual([replayId, replayId])
  expect((await attemptsOf(server, id)).map(({ trigger, number }) => [trigger, number])).toEqual([
    ['replay', 1],
    ['retry', 2],
  ])
  await line.write()
  await drain()
  expect(receiver.received).toHaveLength(3)
  expect(receiver.received[2]?.headers['service-replay']).toBeUndefined()
})

test('an event whose whole schedule fails counts as failed, and completes the replay', async () => {
  const { receiver, line, id } = await newLateEndpoint(2)
  const [first] = await eventsOf(line.workspace.id)
  receiver.behave((response, received) => void response.writeHead(received.id === first ? 500 : 200).end())
  const { id: replayId } = await replays.start(id, { only: 'missing' })
  for (const seconds of [0, 0, 10, 60, 300, 1800, 7200, 21_600]) {
    server.clock.forward({ seconds: seconds + 2 })
    await replays.runner.step()
    await drain()
  }
  expect(await replays.run(replayId)).toMatchObject({ state: 'completed', total: 2, delivered: 1, failed: 1 })
  expect(receiver.received.filter((each) => each.id === first)).toHaveLength(8)
})

test('"failed" covers what failed permanently, "missing" what was never delivered, "all" everything', async () => {
  const { receiver, failed, delivered, line, id } = await newEndpointWithFailure()
  const other = await line.listen(receiver, ['message.received'])
  const first = await replays.start(id)
  expect(await replays.run(first.id)).toMatchObject({ only: 'failed', total: 1, delivered: 1 })
  expect(idsOf(receiver.received)).toEqual([failed])
  const again = await replays.start(id)
  expect(await replays.run(again.id)).toMatchObject({ state: 'completed', total: 0, delivered: 0, failed: 0 })
  const missing = await replays.start(id, { only: 'missing' })
  expect(await replays.run(missing.id)).toMatchObject({ state: 'completed', total: 0 })
  expect(receiver.received).toHaveLength(1)
  const all = await replays.start(id, { only: 'all' })
  expect(await replays.run(all.id)).toMatchObject({ state: 'completed', total: 2, delivered: 2 })
  expect(idsOf(receiver.received).slice(1).sort()).toEqual([failed, delivered].sort())
  // What another endpoint got does not count as delivered.
  const missingOfOther = await replays.start(other.id, { only: 'missing' })
  expect(await replays.run(missingOfOther.id)).toMatchObject({ state: 'completed', total: 2, delivered: 2 })
})

test('only events of the given time, types and senders are sent, and never types that the endpoint does not subscribe to', async () => {
  const { receiver, line, id } = await newLateEndpoint(10)
  const middle = server.clock.now()
  server.clock.forward({ minutes: 1 })
  await sendTestEvent(server.db, server.clock, id)
  await drain()
  receiver.received.splice(0)
  const [sender] = await server.db.rows<{ id: string }>('select id from senders where workspace_id = $1', [
    line.workspace.id,
  ])
  const unsubscribed = replays.start(id, { only: 'all', events: ['message.sent'] })
  await expect(unsubscribed).rejects.toThrow('does not subscribe to "message.sent"')
  await expect(replays.start(id, { since: new Date(server.clock.now().getTime() + 1) })).rejects.toThrow('in the past')
  const none = [
    await replays.start(id, { only: 'all', since: middle }),
    await replays.start(id, { only: 'all', until: new Date(server.clock.now().getTime() - 3_600_000) }),
    await replays.start(id, { only: 'all', senders: ['snd_00000000-0000-4000-8000-000000000000'] }),
  ]
  for (const { id: replayId } of none) expect(await replays.run(replayId)).toMatchObject({ total: 0 })
  expect(receiver.received).toEqual([])
  const mine = await replays.start(id, {
    only: 'all',
    until: middle,
    events: ['message.received'],
    senders: [`snd_${sender?.id}`],
  })
  expect(await replays.run(mine.id)).toMatchObject({ total: 10, delivered: 10 })
})

test('a delivery that is open becomes part of the replay, is sent once, and stays if the replay is cancelled', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id } = await line.listen(receiver, ['message.received'])
  receiver.behave(500)
  await line.write(2)
  await drain()
  receiver.behave(200)
  receiver.received.splice(0)
  expect(await openOf(server, id)).toHaveLength(2)
  // Each waits for its third attempt. The replay sends them now.
  const { id: replayId } = await replays.start(id, { only: 'missing' })
  server.clock.forward({ seconds: 2 })
  expect(await replays.run(replayId)).toMatchObject({ total: 2, delivered: 2 })
  expect(receiver.received.map(({ headers }) => headers['service-replay'])).toEqual([replayId, replayId])

  receiver.behave(500)
  await line.write(2)
  await drain()
  const waiting = await openOf(server, id)
  expect(waiting).toHaveLength(2)
  const cancelled = await replays.start(id, { only: 'missing', rate: 1 })
  for (let n = 0; n < 2; n++) {
    server.clock.forward({ seconds: 2 })
    await replays.runner.step()
  }
  await cancelReplay(server.db, server.clock, cancelled.id)
  expect(await replays.run(cancelled.id)).toMatchObject({ state: 'cancelled' })
  expect((await openOf(server, id)).map((each) => each.event_id)).toEqual(waiting.map((each) => each.event_id))
  receiver.behave(200)
  receiver.received.splice(0)
  for (let n = 0; n < 8; n++) {
    server.clock.forward({ seconds: 30 })
    await drain()
  }
  expect(await openOf(server, id)).toEqual([])
  expect(new Set(idsOf(receiver.received)).size).toBe(2)
})

test('cancelling drops what is not sent yet; what was sent stays counted', async () => {
  const { receiver, id } = await newLateEndpoint(40)
  const { id: replayId } = await replays.start(id, { only: 'all', rate: 10 })
  await replays.run(replayId, ({ delivered }) => delivered > 0)
  await cancelReplay(server.db, server.clock, replayId)
  const cancelled = await replays.run(replayId)
  expect(cancelled).toMatchObject({ state: 'cancelled', total: 40, failed: 0 })
  expect(cancelled.delivered).toBe(receiver.received.length)
  expect(cancelled.delivered).toBeLessThan(40)
  expect(await openOf(server, id)).toEqual([])
  server.clock.forward({ minutes: 10 })
  await replays.runner.step()
  await drain()
  expect(receiver.received).toHaveLength(cancelled.delivered)
  await expect(cancelReplay(server.db, server.clock, replayId)).rejects.toThrow('already ended')
})

test('a disabled endpoint and a suspended workspace hold a replay; it continues afterwards', async () => {
  const { receiver, line, id } = await newLateEndpoint(10)
  await disableWebhook(server.db, server.clock, id, 'moving')
  const { id: replayId } = await replays.start(id, { only: 'all' })
  const waits = async () => {
    for (let n = 0; n < 5; n++) {
      await replays.runner.step()
      await drain()
      server.clock.forward({ seconds: 2 })
    }
    expect(receiver.received).toEqual([])
    return replays.read(replayId)
  }
  expect(await waits()).toMatchObject({ state: 'running', hold: 'webhook_disabled', total: 10, delivered: 0 })
  await suspendWorkspace(server.db, server.clock, line.workspace.id, 'unpaid')
  await enableWebhook(server.db, server.clock, id)
  expect(await waits()).toMatchObject({ state: 'running', hold: 'workspace_suspended' })
  await resumeWorkspace(server.db, line.workspace.id)
  expect(await replays.run(replayId)).toMatchObject({ state: 'completed', hold: null, delivered: 10 })
})

test('a failing endpoint gets one attempt of a replay at a time, and the rest once one succeeds', async () => {
  const { receiver, id } = await newLateEndpoint(30)
  receiver.behave(500)
  const { id: replayId } = await replays.start(id, { only: 'all' })
  await replays.run(replayId, ({ hold }) => hold === 'webhook_failing')
  const before = receiver.received.length
  for (let n = 0; n < 3; n++) {
    server.clock.forward({ seconds: 3 })
    await replays.runner.step()
    await drain()
  }
  expect(receiver.received.length - before).toBeLessThanOrEqual(3)
  receiver.behave(200)
  server.clock.forward({ seconds: 60 })
  expect(await replays.run(replayId)).toMatchObject({ state: 'completed', total: 30, delivered: 30, failed: 0 })
})

test('deleting an endpoint ends its replays', async () => {
  const { receiver, id } = await newLateEndpoint(20)
  const { id: replayId } = await replays.start(id, { only: 'all', rate: 5 })
  await replays.run(replayId, ({ delivered }) => delivered > 0)
  await deleteWebhook(server.db, server.clock, id)
  server.clock.forward({ seconds: 10 })
  await replays.runner.step()
  await drain()
  expect(await replays.read(replayId)).toMatchObject({ state: 'cancelled', ended_at: expect.any(String) })
  expect(receiver.received.length).toBeLessThan(20)
})

test('a manual retry of an event of a replay is counted once', async () => {
  const { receiver, id, line } = await newLateEndpoint(1)
  const [eventId = ''] = await eventsOf(line.workspace.id)
  receiver.behave(500)
  const { id: replayId } = await replays.start(id, { only: 'all' })
  await replays.run(replayId, () => receiver.received.length >= 2)
  receiver.behave(200)
  await retryDelivery(server.db, server.clock, id, eventId)
  expect(await replays.run(replayId)).toMatchObject({ state: 'completed', total: 1, delivered: 1, failed: 0 })
})

test('an event that two replays cover at the same time is counted by the replay that sends it', async () => {
  const { receiver, id } = await newLateEndpoint(20)
  const first = await replays.start(id, { only: 'all' })
  const second = await replays.start(id, { only: 'all' })
  expect(await replays.run(second.id)).toMatchObject({ state: 'completed', failed: 0 })
  await replays.run(first.id)
  const counted = (await Promise.all([first, second].map((each) => replays.read(each.id)))).map(
    (each) => each.delivered,
  )
  expect(counted.reduce((sum, count) => sum + count)).toBe(receiver.received.length)
  expect(new Set(idsOf(receiver.received)).size).toBe(20)
})

test('a workspace has at most ten replays in progress', async () => {
  const { id } = await newLateEndpoint(1)
  await disableWebhook(server.db, server.clock, id, 'moving')
  const started = []
  for (let n = 0; n < 10; n++) started.push(await replays.start(id))
  await expect(replays.start(id)).rejects.toThrow('already has 10 replays in progress')
  for (const replay of started) await cancelReplay(server.db, server.clock, replay.id)
})

test('one process at a time runs a replay; another takes over when it is gone, and each event is sent once', async () => {
  const { receiver, line, id } = await newLateEndpoint(40)
  const events = await eventsOf(line.workspace.id)
  const [worker, other] = [newDeliveryWorker(server, patient), newDeliveryWorker(server, patient)]
  const [runner, second] = [newReplayRunner(server, worker), newReplayRunner(server, other)]
  try {
    const { id: replayId } = await replays.start(id, { only: 'all', rate: 20 })
    await runner.step()
    server.clock.forward({ ms: 300 })
    await runner.step()
    const leased = await openOf(server, id)
    server.clock.forward({ ms: 300 })
    await second.step()
    // The other one does nothing while the first has the lease.
    expect((await openOf(server, id)).length).toBeLessThanOrEqual(leased.length)
    await until('the first has begun', () => receiver.received.length > 0)
    // The first takes no more steps, and begins nothing when its lease has ended. What it has begun is recorded.
    server.clock.forward({ seconds: 6 })
    await until('its attempts are recorded', async () => {
      const attempts = await attemptsOf(server, id)
      return attempts.length > 0 && attempts.length === receiver.received.length
    })
    for (let n = 0; n < 400 && !(await replays.read(replayId)).ended_at; n++) {
      await second.step()
      await other.drain()
      server.clock.forward({ ms: 250 })
    }
    expect(await replays.read(replayId)).toMatchObject({ state: 'completed', total: 40, delivered: 40 })
    expect(idsOf(receiver.received).sort()).toEqual([...events].sort())
  } finally {
    await second.stop()
    await Promise.all([worker.stop(0), other.stop(0)])
  }
})
