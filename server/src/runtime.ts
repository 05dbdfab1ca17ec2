import type { Config } from './config.ts'
import type { Database } from './db/db.ts'
import type { Network } from './domain/connections/network.ts'
import type { Clock } from './lib/clock.ts'
import type { Logger } from './lib/logger.ts'

/** What a process runs on: made once, in start.ts, and passed on. */
export interface Runtime {
  config: Config
  log: Logger
  /** Sees every workspace; `db.process` is what the process keeps in memory. */
  db: Database
  clock: Clock
  network: Network
  /** Null if no simulator runs beside the service. */
  simulatorUrl: string | null
}
