import type { Db } from '../../../db/db.ts'
import { type Loop, startLoop } from '../../../db/loop.ts'
import { withIndexLookups } from '../../../db/planner-settings.ts'
import { firstIdAt } from '../../../lib/ids.ts'
import type { Logger } from '../../../telemetry/logger.ts'
import { deleteReplaysBefore } from '../replays/replays.sql.ts'
import { startReplays } from '../replays/run.ts'
import { deleteDeliveriesBefore, disabledEndpoints } from './hold/hold.sql.ts'
import { stepMax } from './hold/steps.ts'
import type { OtherWorkers } from './publish/other-workers.ts'
import { planMissingVisits } from './visits.sql.ts'
import { DeliveryWorker, type WorkerDeps } from './worker.ts'

const pollEveryMs = 1_000

/** Runs a delivery worker until stopped. It polls every second, and earlier if a delivery is known to become due. */
export function startDeliveries(deps: Omit<WorkerDeps, 'onDue'> & { otherWorkers: OtherWorkers }): Pick<Loop, 'stop'> {
  const { clock } = deps
  let nextDueMs = Number.POSITIVE_INFINITY
  const onDue = (dueAt: Date) => {
    nextDueMs = Math.min(nextDueMs, dueAt.getTime())
  }
  const worker = new DeliveryWorker({ ...deps, onDue })
  deps.otherWorkers.taker = worker
  const loop = startLoop(deps, 'deliveries', pollEveryMs, async () => {
    if (nextDueMs <= clock.now().getTime()) nextDueMs = Number.POSITIVE_INFINITY
    const claimed = await worker.claim()
    return { nextInMs: claimed > 0 ? 0 : Math.max(10, nextDueMs - clock.now().getTime()) }
  })
  const replays = startReplays({ ...deps, worker })
  return {
    async stop() {
      // Together: a loop may be waiting for the database, and other processes wait for the leases of this one.
      await Promise.all([worker.stop(), loop.stop(), replays.stop()])
    },
  }
}

/** Plans visits for endpoints that have due deliveries and no visit in time. */
export const planMissing = (db: Db, now: Date): Promise<number> =>
  withIndexLookups(db, (tx) => planMissingVisits(tx, now))

/**
 * Deletes held deliveries whose events are past retention, in steps, and replays that ended by then. Deliveries of enabled
 * endpoints are deleted when they are claimed.
 */
export async function deletePastRetention(db: Db, log: Logger, now: Date, retentionDays: number): Promise<void> {
  const before = new Date(now.getTime() - retentionDays * 86_400_000)
  const input = { before, firstId: firstIdAt(before), limit: stepMax }
  let deleted = 0
  for (const { id } of await disabledEndpoints(db)) {
    const deleteNext = () => withIndexLookups(db, (tx) => deleteDeliveriesBefore(tx, id, input))
    for (let count = stepMax; count === stepMax; deleted += count) count = await deleteNext()
  }
  await deleteReplaysBefore(db, before)
  if (deleted > 0) {
    log.warn({ event: 'delivery.expired', deliveries: deleted }, 'held deliveries expired with their events')
  }
}
