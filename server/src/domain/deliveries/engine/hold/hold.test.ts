import { beforeEach, expect, test } from 'vitest'
import { signedIn } from '../../../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../../../testing/deliveries.ts'
import { mayIdle } from '../../../../../testing/may-idle.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import { until } from '../../../../../testing/until.ts'
import { newUuid } from '../../../../lib/ids.ts'
import { rotateWebhook } from '../../../webhooks/rotation.ts'
import { deleteWebhook, disableWebhook, enableWebhook } from '../../../webhooks/webhooks.ts'
import { listDeliveries } from '../../reading/newest.ts'
import { retryDelivery, retryFailedSince } from '../../retry.ts'
import { deletePastRetention } from '../start-worker.ts'
import { planMissingVisits } from '../visits.sql.ts'
import { retryNext } from './steps.sql.ts'
import { stepMax, stepPause, takeNextStep } from './steps.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()
const drain = () => deliveries.worker.drain()

// Claims and steps take what all tests have left.
beforeEach(async () => {
  for (const table of ['deliveries', 'endpoint_visits', 'endpoint_steps'])
    await server.db.change(`delete from ${table}`)
})

/** More than three steps. */
const many = 3 * stepMax + 100

async function newEndpoint() {
  const receiver = await newReceiver()
  const line = await newLine(server)
  return { receiver, line, ...(await line.listen(receiver)), workspaceId: line.workspace.id }
}

type Endpoint = Awaited<ReturnType<typeof newEndpoint>>

const minutes = (count: number) => new Date(server.clock.now().getTime() + count * 60_000)

const newIds = (count: number, at: Date) => Array.from({ length: count }, () => newUuid(at.getTime()))

/** Adds deliveries that wait for a retry. */
const addRetries = ({ id, workspaceId }: Endpoint, count: number, dueAt: Date | 'infinity') =>
  server.db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, attempts, trigger, due_at)
     select event_id, $1, $2, $3, 2, 'retry', $4 from unnest($5::uuid[]) as event_id`,
    [id.slice(4), workspaceId, server.clock.now(), dueAt, newIds(count, server.clock.now())],
  )

const countOf = async ({ id }: Endpoint, condition = 'true'): Promise<number> =>
  (
    await server.db.first<{ count: number }>(
      `select count(*)::int as count from deliveries where webhook_id = $1 and ${condition}`,
      [id.slice(4)],
    )
  )?.count ?? 0

const messageEventOf = (workspaceId: string) =>
  server.db.first<{ id: string }>(`select id from events where workspace_id = $1 and type = 'message.received'`, [
    workspaceId,
  ])

/** The versions of all rows: a row that is updated gets another one. */
const versionsOf = ({ id }: Endpoint) =>
  server.db.rows('select event_id, xmin::text, ctid::text from deliveries where webhook_id = $1 order by event_id', [
    id.slice(4),
  ])

async function takeSteps(): Promise<number> {
  let steps = 0
  for (let startedMs = performance.now(); ; startedMs = performance.now()) {
    if (!(await takeNextStep(server.db, server.clock, server.runtime.log))) break
    steps++
    // The pause after it, however long it took. A deleted endpoint is looked at again after five seconds.
    server.clock.forward({ ms: 1_000 + stepPause * (performance.now() - startedMs) })
  }
  return steps
}

test('disabling and enabling an endpoint writes none of the deliveries that wait, and shows them as held', async () => {
  const endpoint = await newEndpoint()
  const { id, line, workspaceId } = endpoint
  await addRetries(endpoint, many, minutes(-1))
  const before = await versionsOf(endpoint)
  await disableWebhook(server.db, server.clock, id, 'moving servers')
  const admin = await signedIn(server, { workspaceId, role: 'admin' })
  const get = async (path: string) => (await admin.call(`/w/${workspaceId}${path}`)).body
  expect(await get(`/webhooks/${id}`)).toMatchObject({
    state: 'disabled',
    held: { count: many },
    waiting: { count: 0 },
  })
  expect((await get('/deliveries?state=held')).data).toHaveLength(50)
  expect((await get('/deliveries?state=waiting')).data).toEqual([])
  await drain()
  const enabled = await admin.call(`/w/${workspaceId}/webhooks/${id}/enable`, { method: 'POST', body: {} })
  expect(enabled).toMatchObject({
    status: 200,
    body: { held: { count: 0 }, waiting: { count: many }, in_progress: [] },
  })
  expect(await get(`/webhooks/${id}`)).toMatchObject({ due_since: minutes(-1).toISOString() })
  expect(await versionsOf(endpoint)).toEqual(before)
  await server.db.change('delete from deliveries where webhook_id = $1', [id.slice(4)])
  await line.write()
  await drain()
  expect(endpoint.receiver.received).toHaveLength(1)
})

test('a planned retry is due when its endpoint is enabled, unless a later attempt planned it', async () => {
  const endpoint = await newEndpoint()
  const { id, workspaceId } = endpoint
  await disableWebhook(server.db, server.clock, id, 'moving servers')
  await addRetries(endpoint, many, minutes(60))
  await enableWebhook(server.db, server.clock, id)
  const now = server.clock.now()
  const due = `due_at <= '${now.toISOString()}'`
  expect(await countOf(endpoint, due)).toBe(stepMax)
  // An attempt after the endpoint was enabled has planned this one.
  const failed = await server.db.first<{ event_id: string }>(
    `with failed as (select event_id from deliveries where webhook_id = $1 and not ${due} order by event_id desc limit 1)
     insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state, duration_us)
     select $3, event_id, $1, $2, $3, 3, 'retry', 'retrying', 1 from failed returning event_id`,
    [id.slice(4), workspaceId, now],
  )
  const admin = await signedIn(server, { workspaceId, role: 'admin' })
  const progress = async () => (await admin.call(`/w/${workspaceId}/webhooks/${id}`)).body.in_progress
  expect(await progress()).toEqual([{ work: 'release', done: 0 }])
  await takeNextStep(server.db, server.clock, server.runtime.log)
  expect(await progress()).toMatchObject([{ work: 'release' }])
  // No process takes the next step before the pause has ended.
  expect(await takeNextStep(server.db, server.clock, server.runtime.log)).toBe(false)
  // Longer than the pause, however long the step took.
  server.clock.forward({ minutes: 10 })
  await takeSteps()
  expect(await progress()).toEqual([])
  expect(await countOf(endpoint, due)).toBe(many - 1)
  expect(await countOf(endpoint, `not (${due}) and event_id = '${failed?.event_id}'`)).toBe(1)
})

test('deleting an endpoint deletes its deliveries in steps, and none of them is claimed', async () => {
  const endpoint = await newEndpoint()
  const { id } = endpoint
  await addRetries(endpoint, many, minutes(-1))
  await planMissingVisits(server.db, server.clock.now())
  await deleteWebhook(server.db, server.clock, id)
  expect(await countOf(endpoint)).toBe(many - stepMax)
  await drain()
  expect(await countOf(endpoint, 'lease is not null')).toBe(0)
  // A row that another transaction has locked is left for a later step.
  await server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await tx.rows('select 1 from deliveries where webhook_id = $1 order by event_id limit 1 for update', [id.slice(4)])
    // Two processes at the same time do not take the same step.
    await Promise.all([takeSteps(), takeSteps()])
    expect(await countOf(endpoint)).toBe(1)
  })
  server.clock.forward({ seconds: 10 })
  await takeSteps()
  expect(await countOf(endpoint)).toBe(0)
  // A transaction that began before the endpoint was deleted commits now.
  await addRetries(endpoint, 3, minutes(-1))
  server.clock.forward({ seconds: 10 })
  await takeSteps()
  expect(await countOf(endpoint)).toBe(0)
  server.clock.forward({ minutes: 2 })
  await takeSteps()
  const steps = () => server.db.rows('select work from endpoint_steps where webhook_id = $1', [id.slice(4)])
  expect(await steps()).toEqual([])
  // Later than any transaction may commit.
  await addRetries(endpoint, 3, minutes(-1))
  await planMissingVisits(server.db, server.clock.now())
  expect(await steps()).toEqual([{ work: 'delete' }])
})

test('manual retries that wait when an endpoint is disabled are held, and later ones are attempted', async () => {
  const { id, line, receiver } = await newEndpoint()
  await disableWebhook(server.db, server.clock, id, 'moving servers')
  await line.write(3)
  await enableWebhook(server.db, server.clock, id)
  const held = (await listDeliveries(server.db, { webhookId: id, state: 'pending' })).map(({ event_id }) => event_id)
  const [first = '', second = ''] = held
  await retryDelivery(server.db, server.clock, id, first)
  server.clock.forward({ seconds: 1 })
  await disableWebhook(server.db, server.clock, id, 'moving servers again')
  server.clock.forward({ seconds: 1 })
  await retryDelivery(server.db, server.clock, id, second)
  await drain()
  expect(receiver.received.map((each) => each.id)).toEqual([second])
  expect(await listDeliveries(server.db, { webhookId: id, state: 'held' })).toHaveLength(2)
  await enableWebhook(server.db, server.clock, id)
  await drain()
  expect(new Set(receiver.received.map((each) => each.id))).toEqual(new Set(held))
})

test('held deliveries whose events are past the retention are deleted in steps, the others stay', async () => {
  const endpoint = await newEndpoint()
  const { id } = endpoint
  const other = await newEndpoint()
  await disableWebhook(server.db, server.clock, id, 'moving servers')
  const add = (to: Endpoint, count: number, at: Date) =>
    server.db.change(
      `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, due_at)
       select id, $1, $2, $3, $3 from unnest($4::uuid[]) as id`,
      [to.id.slice(4), to.workspaceId, at, newIds(count, at)],
    )
  await add(endpoint, many, minutes(-31 * 1_440))
  await add(endpoint, 5, minutes(-29 * 1_440))
  await add(other, 5, minutes(-31 * 1_440))
  await deletePastRetention(server.db, server.runtime.log, server.clock.now(), 30)
  expect([await countOf(endpoint), await countOf(other)]).toEqual([5, 5])
})

/** Adds deliveries that failed permanently, with their events. */
const addFailed = ({ id, workspaceId }: Endpoint, count: number, state: 'failed' | 'retrying') =>
  server.db.change(
    `with event as (
       insert into events (id, workspace_id, type, body, created_at)
       select gen_random_uuid(), $2, 'message.received', '{}', $3 from generate_series(1, $4::int) returning id
     )
     insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state, duration_us)
     select $3, id, $1, $2, $3, 8, 'retry', $5, 1 from event`,
    [id.slice(4), workspaceId, server.clock.now(), count, state],
  )

test('retrying what failed takes the first in the same transaction and the others in steps, each once', async () => {
  const endpoint = await newEndpoint()
  await addFailed(endpoint, many, 'failed')
  const since = minutes(-1)
  server.clock.forward({ seconds: 1 })
  const retried = await retryFailedSince(server.db, server.clock, endpoint.id, since)
  expect(retried).toEqual({ count: stepMax, more: true })
  // It fails after the request, so it is not part of it.
  server.clock.forward({ seconds: 1 })
  await addFailed(endpoint, 1, 'failed')
  await takeSteps()
  expect(await countOf(endpoint, `trigger = 'manual'`)).toBe(many)
})

test('a rotation makes retries due in steps', async () => {
  const endpoint = await newEndpoint()
  await addFailed(endpoint, many, 'retrying')
  await server.db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, attempts, trigger, due_at)
     select event_id, webhook_id, workspace_id, event_created_at, 8, 'retry', $2 from delivery_attempts where webhook_id = $1`,
    [endpoint.id.slice(4), minutes(60)],
  )
  server.clock.forward({ seconds: 1 })
  await rotateWebhook(server.db, server.clock, server.secretKeys, endpoint.id)
  const due = `due_at <= '${server.clock.now().toISOString()}'`
  expect(await countOf(endpoint, due)).toBe(stepMax)
  await takeSteps()
  expect(await countOf(endpoint, due)).toBe(many)
})

test('a retry that a person asks for is shown as waiting among many that are held', async () => {
  const endpoint = await newEndpoint()
  const { id, line, workspaceId } = endpoint
  await disableWebhook(server.db, server.clock, id, 'moving servers')
  await line.write()
  await addRetries(endpoint, 10_100, minutes(-1))
  const event = await messageEventOf(workspaceId)
  await retryDelivery(server.db, server.clock, id, event?.id ?? '')
  const admin = await signedIn(server, { workspaceId, role: 'admin' })
  const get = async (path: string) => (await admin.call(`/w/${workspaceId}${path}`)).body
  expect(await get(`/webhooks/${id}`)).toMatchObject({
    held: { count: 10_000, more: true },
    waiting: { count: 1, more: false },
  })
  const waiting = await get(`/deliveries?state=waiting&webhook=${id}`)
  expect(waiting.data).toMatchObject([{ event_id: event?.id, state: 'pending' }])
})

test('a retry that a person asks for is attempted, although steps still release older ones of an endpoint that was disabled again', async () => {
  const endpoint = await newEndpoint()
  const { id, line, receiver } = endpoint
  await disableWebhook(server.db, server.clock, id, 'moving servers')
  await line.write()
  await addRetries(endpoint, many, minutes(60))
  await enableWebhook(server.db, server.clock, id)
  server.clock.forward({ seconds: 1 })
  await disableWebhook(server.db, server.clock, id, 'moving servers again')
  server.clock.forward({ seconds: 1 })
  const event = await messageEventOf(endpoint.workspaceId)
  await retryDelivery(server.db, server.clock, id, event?.id ?? '')
  await takeSteps()
  await drain()
  expect(receiver.received.map((each) => each.id)).toEqual([event?.id])
})

const isWaitingForLock = async () =>
  (await server.db.first(
    `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  )) !== undefined

test('a retry of what failed does not repeat a delivery that arrives at the same moment', async () => {
  const endpoint = await newEndpoint()
  await addFailed(endpoint, 3, 'failed')
  const since = minutes(-1)
  server.clock.forward({ seconds: 1 })
  await retryFailedSince(server.db, server.clock, endpoint.id, since)
  server.clock.forward({ seconds: 1 })
  let again: Promise<unknown> | undefined
  await server.db.transaction(async (recording) => {
    await recording.change(
      `with delivered as (delete from deliveries where webhook_id = $1 returning *)
       insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state, duration_us)
       select $2, event_id, webhook_id, workspace_id, event_created_at, 1, 'manual', 'delivered', 1 from delivered`,
      [endpoint.id.slice(4), server.clock.now()],
    )
    let isDone = false
    again = retryFailedSince(server.db, server.clock, endpoint.id, since).finally(() => {
      isDone = true
    })
    await until('it has looked at the deliveries', async () => isDone || (await isWaitingForLock()))
  })
  await again
  expect(await countOf(endpoint)).toBe(0)
})

test('asking again for a retry of what failed waits for a step in progress without a deadlock', async () => {
  const endpoint = await newEndpoint()
  const { id, workspaceId } = endpoint
  await addFailed(endpoint, many, 'failed')
  server.clock.forward({ minutes: 1 })
  await addFailed(endpoint, many, 'failed')
  server.clock.forward({ seconds: 1 })
  await retryFailedSince(server.db, server.clock, id, minutes(-5))
  let again: Promise<unknown> | undefined
  await server.db.transaction(async (step) => {
    await step.rows('select 1 from endpoint_steps where webhook_id = $1 for update', [id.slice(4)])
    again = retryFailedSince(server.db, server.clock, id, minutes(-0.5))
    again.catch(() => {})
    await until('it waits for the step', isWaitingForLock)
    const input = { webhookId: id.slice(4), workspaceId, work: 'retry', askedAt: server.clock.now() } as const
    await retryNext(step, { ...input, positionAt: minutes(-5), position: null }, 2 * many)
  })
  await again
  await takeSteps()
  expect(await countOf(endpoint)).toBe(2 * many)
})

test('a rotation does not repeat what has failed with the new secret', async () => {
  const endpoint = await newEndpoint()
  const { id, workspaceId } = endpoint
  await addFailed(endpoint, many, 'retrying')
  await server.db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, attempts, trigger, due_at)
     select event_id, webhook_id, workspace_id, event_created_at, 2, 'retry', $2 from delivery_attempts where webhook_id = $1`,
    [id.slice(4), minutes(60)],
  )
  server.clock.forward({ seconds: 1 })
  await rotateWebhook(server.db, server.clock, server.secretKeys, id)
  const due = `due_at <= '${server.clock.now().toISOString()}'`
  // They are attempted immediately, and fail again.
  server.clock.forward({ seconds: 1 })
  await server.db.change(
    `with failed as (
       update deliveries set due_at = $2, attempts = 3 where webhook_id = $1 and ${due} returning event_id, event_created_at
     )
     insert into delivery_attempts (at, event_id, webhook_id, workspace_id, event_created_at, number, trigger, state, duration_us)
     select $3, event_id, $1, $4, event_created_at, 3, 'retry', 'retrying', 1 from failed`,
    [id.slice(4), minutes(10), server.clock.now(), workspaceId],
  )
  await takeSteps()
  expect(await countOf(endpoint, due)).toBe(many - stepMax)
  expect(await countOf(endpoint, 'attempts = 3')).toBe(stepMax)
})

test('a step whose result is unknown does not undo a later request', async () => {
  const endpoint = await newEndpoint()
  const { id } = endpoint
  await addRetries(endpoint, many, minutes(60))
  await enableWebhook(server.db, server.clock, id)
  await takeNextStep(server.db, server.clock, server.runtime.log)
  // Longer than the pause after it, however long it took.
  server.clock.forward({ minutes: 10 })
  // The commit reaches the database, and its response is lost.
  const lost: typeof server.db = {
    ...server.db,
    async transaction(work) {
      await server.db.transaction(work)
      await enableWebhook(server.db, server.clock, id)
      throw new Error('the connection was lost')
    },
  }
  await expect(takeNextStep(lost, server.clock, server.runtime.log)).rejects.toThrow('the connection was lost')
  expect(
    await server.db.rows('select position, step_at > $2 as is_later from endpoint_steps where webhook_id = $1', [
      id.slice(4),
      server.clock.now(),
    ]),
  ).toEqual([{ position: null, is_later: true }])
})

test('deleting an endpoint ends the other work on its deliveries', async () => {
  const endpoint = await newEndpoint()
  await addFailed(endpoint, many, 'failed')
  server.clock.forward({ seconds: 1 })
  await retryFailedSince(server.db, server.clock, endpoint.id, minutes(-1))
  await deleteWebhook(server.db, server.clock, endpoint.id)
  expect(await server.db.rows('select work from endpoint_steps')).toEqual([{ work: 'delete' }])
})
