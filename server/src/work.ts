import { version } from './config.ts'
import { databaseNow } from './db/database-clock.ts'
import { dropOldPartitions, ensurePartitions } from './db/partitions.ts'
import { mayForget } from './db/retention.ts'
import { forgetParked } from './domain/connections/parked.ts'
import { startSyncLoop } from './domain/connections/sync.ts'
import { proveLedger } from './domain/credits/credits.ts'
import { forgetPastRetention, startDeliveries } from './domain/deliveries/engine/start-worker.ts'
import { startFetching } from './domain/files/fetching.ts'
import { sweepWindows } from './domain/keys/rate-limit.sql.ts'
import { startReleaseLoop } from './domain/messages/receiving/release-parked.ts'
import { settleEarly } from './domain/messages/receiving/statuses.ts'
import { sweepAnswers } from './domain/messages/sending/idempotency.ts'
import { startSending } from './domain/messages/sending/start-sending.ts'
import { sweepPeople } from './domain/people/sweep.ts'
import { type Loop, startLoop } from './lib/loop.ts'
import { newOutbound } from './lib/outbound.ts'
import type { Runtime } from './runtime.ts'

export type Work = Pick<Loop, 'stop'>

/** Starts what a process does by itself, beside answering requests: it delivers, sends, fetches, syncs and cleans up. */
export function startWork(runtime: Runtime): Work {
  const parts = [startUpkeep(runtime), ...(runtime.config.role === 'api' ? [] : startWorkers(runtime))]
  return {
    async stop() {
      const errors: unknown[] = []
      // One that fails must not keep the others from being stopped.
      for (const part of parts.splice(0).reverse()) await part.stop().catch((error: unknown) => errors.push(error))
      if (errors.length > 0) throw new AggregateError(errors, 'stopping failed')
    },
  }
}

/** What every process does, whatever its role. */
function startUpkeep(runtime: Runtime): Work {
  const { db, clock, log, config } = runtime
  return together([
    startLoop(runtime, 'partitions', 60_000, async () => {
      await ensurePartitions(db, clock)
      await mayForget(db, clock, log)
    }),
    startLoop(runtime, 'retention', 3_600_000, async () => {
      if (!(await mayForget(db, clock, log))) return
      await dropOldPartitions(db, clock, log, config.retentionDays)
      const now = await databaseNow(db, clock)
      await forgetPastRetention(db, log, now, config.retentionDays)
      await forgetParked(db, log, now, config.retentionDays)
    }),
    startLoop(runtime, 'budget windows', 60_000, async () => void (await sweepWindows(db, clock.pinned()))),
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
      startLoop(runtime, 'early statuses', 5_000, () => settleEarly(db, clock)),
      startLoop(runtime, 'sign-ins', 600_000, () => sweepPeople(db, clock)),
      startLoop(runtime, 'idempotency keys', 600_000, async () => {
        if (await mayForget(db, clock, log)) await sweepAnswers(db, clock)
      }),
      startLoop(runtime, 'prove the ledger', 3_600_000, async () => void (await proveLedger(db, log))),
    ]),
    startSending(network, log),
    startFetching(network, log, config.retentionDays),
  ]
}

const together = (loops: readonly Loop[]): Work => ({
  stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))),
})
