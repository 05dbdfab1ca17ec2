import { version } from './config.ts'
import { databaseNow } from './db/database-clock.ts'
import { dropOldPartitions, ensurePartitions } from './db/partitions.ts'
import { mayDeleteOld } from './db/retention.ts'
import { deleteOldParked } from './domain/connections/parked.ts'
import { startSyncLoop } from './domain/connections/sync.ts'
import { deleteOldUnknownNumbers } from './domain/connections/unknown-numbers.ts'
import { verifyLedger } from './domain/credits/credits.ts'
import { deletePastRetention, startDeliveries } from './domain/deliveries/engine/start-worker.ts'
import { startFetching } from './domain/files/fetching.ts'
import { deleteOldWindows } from './domain/keys/rate-limit.sql.ts'
import { moveOlderMessages } from './domain/messages/receiving/older-messages.ts'
import { startReleaseLoop } from './domain/messages/receiving/release-parked.ts'
import { applyEarlyStatuses } from './domain/messages/receiving/statuses.ts'
import { deleteOldResponses } from './domain/messages/sending/idempotency.ts'
import { startSending } from './domain/messages/sending/start-sending.ts'
import { deleteExpiredPeopleData } from './domain/people/delete-expired.ts'
import { type Loop, startLoop } from './lib/loop.ts'
import { newOutbound } from './lib/outbound.ts'
import type { Runtime } from './runtime.ts'

export type Work = Pick<Loop, 'stop'>

/** Starts the background work of a process: deliveries, sending, downloads, syncs and cleanup. */
export function startWork(runtime: Runtime): Work {
  const parts = [startUpkeep(runtime), ...(runtime.config.role === 'api' ? [] : startWorkers(runtime))]
  return {
    async stop() {
      const errors: unknown[] = []
      // If one fails to stop, the others are still stopped.
      for (const part of parts.splice(0).reverse()) await part.stop().catch((error: unknown) => errors.push(error))
      if (errors.length > 0) throw new AggregateError(errors, 'stopping failed')
    },
  }
}

/** Runs in every process, whatever its role. */
function startUpkeep(runtime: Runtime): Work {
  const { db, clock, log, config } = runtime
  return together([
    startLoop(runtime, 'partitions', 60_000, async () => {
      await ensurePartitions(db, clock)
      await mayDeleteOld(db, clock, log)
    }),
    startLoop(runtime, 'retention', 3_600_000, async () => {
      if (!(await mayDeleteOld(db, clock, log))) return
      await dropOldPartitions(db, clock, log, config.retentionDays)
      const now = await databaseNow(db, clock)
      await deletePastRetention(db, log, now, config.retentionDays)
      await deleteOldParked(db, log, now, config.retentionDays)
      await deleteOldUnknownNumbers(db, now)
    }),
    startLoop(runtime, 'budget windows', 60_000, async () => void (await deleteOldWindows(db, clock.pinned()))),
  ])
}

function startWorkers(runtime: Runtime): Work[] {
  const { db, clock, log, config, network } = runtime
  const { secretKeys } = network
  const outbound = newOutbound({ ...config.targetRules, ca: config.webhookCa })
  return [
    startDeliveries({ db, clock, log, secretKeys, outbound, productVersion: version }),
    together([
      startSyncLoop(network, log),
      startReleaseLoop(db, clock, log),
      startLoop(runtime, 'early statuses', 5_000, () => applyEarlyStatuses(db, clock)),
      startLoop(runtime, 'older messages', 600_000, async () => void (await moveOlderMessages(db, clock, log))),
      startLoop(runtime, 'sign-ins', 600_000, () => deleteExpiredPeopleData(db, clock)),
      startLoop(runtime, 'idempotency keys', 600_000, async () => {
        if (await mayDeleteOld(db, clock, log)) await deleteOldResponses(db, clock)
      }),
      startLoop(runtime, 'prove the ledger', 3_600_000, async () => void (await verifyLedger(db, log))),
    ]),
    startSending(network, log),
    startFetching(network, log, config.retentionDays),
  ]
}

const together = (loops: readonly Loop[]): Work => ({
  stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))),
})
