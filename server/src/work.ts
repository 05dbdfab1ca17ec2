import { type Config, version } from './config.ts'
import { databaseNow } from './db/database-clock.ts'
import type { Database } from './db/db.ts'
import { dropOldPartitions, ensurePartitions } from './db/partitions.ts'
import { mayForget } from './db/retention.ts'
import type { Network } from './domain/connections/network.ts'
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
import type { Clock } from './lib/clock.ts'
import type { Logger } from './lib/logger.ts'
import { type Loop, startLoop } from './lib/loop.ts'
import { newOutbound } from './lib/outbound.ts'
import type { TargetRules } from './lib/target-guard.ts'

export interface WorkDeps {
  db: Database
  clock: Clock
  log: Logger
  config: Config
  network: Network
}

export type Work = Pick<Loop, 'stop'>

/** Starts what a process does by itself, beside answering requests: it delivers, sends, fetches, syncs and cleans up. */
export function startWork(deps: WorkDeps): Work {
  const parts = deps.config.role === 'api' ? [startUpkeep(deps)] : [startUpkeep(deps), ...startWorkers(deps)]
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
function startUpkeep({ db, clock, log, config }: WorkDeps): Work {
  return together([
    startLoop('partitions', log, 60_000, async () => {
      await ensurePartitions(db, clock)
      await mayForget(db, clock, log)
    }),
    startLoop('retention', log, 3_600_000, async () => {
      if (!(await mayForget(db, clock, log))) return
      await dropOldPartitions(db, clock, log, config.retentionDays)
      const now = await databaseNow(db, clock)
      await forgetPastRetention(db, log, now, config.retentionDays)
      await forgetParked(db, log, now, config.retentionDays)
    }),
    startLoop('budget windows', log, 60_000, async () => void (await sweepWindows(db, clock.pinned()))),
  ])
}

function startWorkers({ db, clock, log, config, network }: WorkDeps): Work[] {
  const secretKeys = config.secretKeys()
  const outbound = newOutbound({ ...targetRules(config), ca: config.webhookCa })
  return [
    startDeliveries({ db, clock, log, secretKeys, outbound, productVersion: version }),
    together([
      startSyncLoop(network, log),
      startReleaseLoop(db, clock, log),
      startLoop('early statuses', log, 5_000, () => settleEarly(db, clock)),
      startLoop('sign-ins', log, 600_000, () => sweepPeople(db, clock)),
      startLoop('idempotency keys', log, 600_000, async () => {
        if (await mayForget(db, clock, log)) await sweepAnswers(db, clock)
      }),
      startLoop('prove the ledger', log, 3_600_000, async () => void (await proveLedger(db, log))),
    ]),
    startSending(network, log),
    startFetching(network, log, config.retentionDays),
  ]
}

const together = (loops: readonly Loop[]): Work => ({
  stop: async () => void (await Promise.all(loops.map((loop) => loop.stop()))),
})

export const targetRules = ({ webhookAllowHttp: allowHttp, webhookAllowRanges: allowRanges }: Config): TargetRules => ({
  allowHttp,
  allowRanges,
})
