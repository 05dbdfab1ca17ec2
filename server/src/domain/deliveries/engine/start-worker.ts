import type { Db } from '../../../db/db.ts'
import type { Logger } from '../../../lib/logger.ts'
import { type Loop, startLoop } from '../../../lib/loop.ts'
import { deleteDeliveriesBefore, releaseStrandedDeliveries } from './hold.sql.ts'
import { DeliveryWorker, type WorkerDeps } from './worker.ts'

const lookEveryMs = 1_000
const sweepEveryMs = 10_000

/** Delivers until stopped: looks for what is due every second, and in between when something is known to be. */
export function startDeliveries(deps: Omit<WorkerDeps, 'onDue'>): Pick<Loop, 'stop'> {
  const { clock, db } = deps
  let nextDueMs = Number.POSITIVE_INFINITY
  const onDue = (dueAt: Date) => {
    nextDueMs = Math.min(nextDueMs, dueAt.getTime())
  }
  const worker = new DeliveryWorker({ ...deps, onDue })
  const loop = startLoop(deps, 'deliveries', lookEveryMs, async () => {
    if (nextDueMs <= clock.now().getTime()) nextDueMs = Number.POSITIVE_INFINITY
    const claimed = await worker.claim()
    return { nextInMs: claimed > 0 ? 0 : Math.max(10, nextDueMs - clock.now().getTime()) }
  })
  const sweep = startLoop(
    deps,
    'held deliveries',
    sweepEveryMs,
    async () => void (await releaseStrandedDeliveries(db, clock.now())),
  )
  return {
    async stop() {
      await Promise.all([loop.stop(), sweep.stop()])
      await worker.stop()
    },
  }
}

/** Deliveries that were held for so long that their events are no longer kept. */
export async function deletePastRetention(db: Db, log: Logger, now: Date, retentionDays: number): Promise<void> {
  const dropped = await deleteDeliveriesBefore(db, new Date(now.getTime() - retentionDays * 86_400_000))
  if (dropped > 0) {
    log.warn({ event: 'delivery.expired', deliveries: dropped }, 'held deliveries expired with their events')
  }
}
