/** Who runs a replay, and what must not be sent any more. */
import { randomBytes } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { newConversations, textsAt } from '../../../../testing/conversations.ts'
import { attemptsOf, newDeliveryWorker, newLine, openOf } from '../../../../testing/deliveries.ts'
import { openTransaction } from '../../../../testing/open-transaction.ts'
import { type Received, useReceivers } from '../../../../testing/receiver.ts'
import { newReplayRunner, untilCommitted } from '../../../../testing/replays.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newUuid } from '../../../lib/ids.ts'
import { countReplayFully, getReplay, startReplay } from './replays.ts'
import { reclaim, takeReplays } from './run.sql.ts'

const server = useTestServer()
const newReceiver = useReceivers()

const idsOf = (received: readonly Received[]) => received.map(({ id }) => id)

/** A process: a worker, and its runner of replays. Before `begin` is called it cannot read endpoints, so no attempt begins. */
function newProcess({ secretKeys = server.secretKeys, waits = false } = {}) {
  const { promise, resolve: begin } = Promise.withResolvers<void>()
  if (!waits) begin()
  const db = { ...server.db, session: () => promise.then(() => server.db.session()) }
  const worker = newDeliveryWorker({ ...server, db, secretKeys }, { deadlineMs: 30_000 })
  const runner = newReplayRunner(server, worker)
  onTestFinished(async () => {
    await runner.stop()
    await worker.stop(0)
  })
  return { worker, runner, begin }
}

type Process = ReturnType<typeof newProcess>

async function newLateEndpoint(events: number) {
  const receiver = await newReceiver()
  const line = await newLine(server)
  await line.write(events)
  server.clock.forward({ seconds: 1 })
  const { id } = await line.listen(receiver, ['message.received'])
  const stored = await server.db.rows<{ id: string }>(
    'select id from events where workspace_id = $1 order by created_at, id',
    [line.workspace.id],
  )
  return { receiver, line, id, events: stored.map((each) => each.id) }
}

async function start(webhookId: string) {
  const since = new Date(server.clock.now().getTime() - 86_400_000)
  const { replay } = await startReplay(server.db, server.clock, webhookId, { since, only: 'missing', rate: 1_000 })
  await untilCommitted(server, replay.id)
  await countReplayFully(server.db, replay.id)
  return replay.id
}

/** Takes steps until the replay has added deliveries. */
async function stepUntilAdded({ runner }: Process, replayId: string) {
  for (let n = 0; n < 50; n++) {
    await runner.step()
    const open = await server.db.rows('select 1 from deliveries where replay_id = $1', [replayId.slice(4)])
    if (open.length > 0) return
    server.clock.forward({ ms: 20 })
    await sleep(20)
  }
  throw new Error('the replay has added nothing')
}

const countLeased = async (replayId: string) =>
  (await server.db.rows('select 1 from deliveries where replay_id = $1 and lease is not null', [replayId.slice(4)]))
    .length

async function runToEnd({ runner, worker }: Process, replayId: string) {
  for (let n = 0; n < 400; n++) {
    await runner.step()
    await worker.drain()
    const replay = await getReplay(server.db, replayId)
    if (replay.ended_at) return replay
    server.clock.forward({ ms: 250 })
  }
  throw new Error('the replay did not end')
}

test('a process that was frozen until another runs its replay sends nothing that it had taken', async () => {
  const { receiver, id, events } = await newLateEndpoint(30)
  const [frozen, other] = [newProcess({ waits: true }), newProcess()]
  const replayId = await start(id)
  await stepUntilAdded(frozen, replayId)
  await nextTurn()
  server.clock.forward({ seconds: 6 })
  frozen.begin()
  // What it had not taken waits for its pace, so it is not idle.
  await until('what it had taken is released', async () => (await countLeased(replayId)) < 30)
  expect(receiver.received).toEqual([])
  expect(await runToEnd(other, replayId)).toMatchObject({ state: 'completed', total: 30, delivered: 30 })
  await frozen.runner.step()
  await frozen.worker.drain()
  expect(idsOf(receiver.received).sort()).toEqual([...events].sort())
})

test('a process that does not own a replay any more takes none of its deliveries', async () => {
  const { id } = await newLateEndpoint(5)
  const replayId = await start(id)
  await stepUntilAdded(newProcess({ waits: true }), replayId)
  server.clock.forward({ seconds: 6 })
  const now = server.clock.now()
  const later = new Date(now.getTime() + 5_000)
  const [owner, lost] = [newUuid(), newUuid()]
  const taking = { now, ownedUntil: later, nextAt: now, except: [], limit: 100 }
  expect(await takeReplays(server.db, { owner, ...taking })).toMatchObject([{ webhookId: id.slice(4) }])
  const input = { replayId: replayId.slice(4), webhookId: id.slice(4), now, leaseUntil: later, limit: 100 }
  const reclaimed = (by: string) => reclaim(server.db, { ...input, owner: by, lease: newUuid(), isTakenOver: true })
  expect(await reclaimed(lost)).toEqual([])
  expect(await reclaimed(owner)).toHaveLength(5)
})

test('a process that has lost its lease on a replay and takes it again continues immediately', async () => {
  const { receiver, id } = await newLateEndpoint(30)
  const process = newProcess({ waits: true })
  const replayId = await start(id)
  await stepUntilAdded(process, replayId)
  server.clock.forward({ seconds: 6 })
  const before = server.clock.now()
  process.begin()
  expect(await runToEnd(process, replayId)).toMatchObject({ total: 30, delivered: 30 })
  // Less than the 30 seconds after which the leases of its deliveries end.
  expect(server.clock.now().getTime() - before.getTime()).toBeLessThan(20_000)
  expect(new Set(idsOf(receiver.received)).size).toBe(30)
})

test('an event that is being erased when a replay reaches its time is neither added nor sent', async () => {
  const { receiver, id, events } = await newLateEndpoint(6)
  const process = newProcess({ waits: true })
  const replayId = await start(id)
  const [erased = ''] = events.slice(2)
  const erasure = await openTransaction(server.db, (tx) => tx.change('delete from events where id = $1', [erased]))
  await stepUntilAdded(process, replayId)
  await erasure.commit()
  process.begin()
  expect((await openOf(server, id)).map(({ event_id }) => event_id)).not.toContain(erased)
  expect(await runToEnd(process, replayId)).toMatchObject({ total: 5, delivered: 5, failed: 0 })
  expect(idsOf(receiver.received).sort()).toEqual(events.filter((each) => each !== erased).sort())
})

test('a process that cannot decrypt the secret of an endpoint leaves its replay to others', async () => {
  const { receiver, id } = await newLateEndpoint(10)
  const [without, other] = [newProcess({ secretKeys: new Map([['other', randomBytes(32)]]) }), newProcess()]
  const replayId = await start(id)
  const ownerOf = () =>
    server.db.first<{ owner: string | null }>('select owner from replays where id = $1', [replayId.slice(4)])
  await stepUntilAdded(without, replayId)
  for (let n = 0; n < 5; n++) {
    await without.runner.step()
    await without.worker.idle()
    server.clock.forward({ ms: 500 })
  }
  expect(await ownerOf()).toEqual({ owner: null })
  expect(receiver.received).toEqual([])
  expect(await runToEnd(other, replayId)).toMatchObject({ state: 'completed', total: 10, delivered: 10 })
  expect(await attemptsOf(server, id)).toHaveLength(10)
})

test('when a replay has sent the event that others of its conversation wait for, they follow immediately', async () => {
  const { write, listen } = await newConversations(server)
  const receiver = await newReceiver()
  const id = await listen(receiver)
  const process = newProcess()
  receiver.next(500, 500)
  await write(['1', 'a'], ['1', 'b'], ['1', 'c'])
  await process.worker.drain()
  expect(textsAt(receiver)).toEqual(['1 a', '1 a'])
  server.clock.forward({ seconds: 2 })
  await process.worker.drain()
  await stepUntilAdded(process, await start(id))
  await process.worker.drain()
  expect(textsAt(receiver)).toEqual(['1 a', '1 a', '1 a', '1 b', '1 c'])
})
