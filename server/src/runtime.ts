import type { Config } from './config.ts'
import type { Database } from './db/db.ts'
import type { Replica } from './db/replica/replica.ts'
import type { Network } from './domain/connections/network.ts'
import type { OtherWorkers } from './domain/deliveries/engine/publish/other-workers.ts'
import type { Clock } from './lib/clock.ts'
import type { Logger } from './telemetry/logger.ts'

/** The dependencies of a process, created once in start.ts. */
export interface Runtime {
  config: Config
  log: Logger
  /** Sees every workspace. */
  db: Database
  /** For the lists, exports and counts of the console. Null without PARLEY_DATABASE_READ_URL. */
  replica: Replica | null
  clock: Clock
  network: Network
  otherWorkers: OtherWorkers
  /** Null if no simulator runs with the service. */
  simulatorUrl: string | null
  /** A phone of the simulator for first messages. */
  simulatorPhone: string | null
}
