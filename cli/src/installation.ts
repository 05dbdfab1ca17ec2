import { type Environment, readConfig } from '@parley/server/config'
import { DatabaseClock } from '@parley/server/db/database-clock'
import type { Store, StoreOptions } from '@parley/server/db/store'
import type { Call } from './command.ts'
import { sayAside } from './print.ts'
import { readRunning, withRunning } from './running.ts'

/** The settings and the database of this machine's installation. The package of the SDK has `packaged/installation.ts` instead. */
export interface Installation extends Pick<Call, 'config' | 'clock' | 'running' | 'store'> {
  /** Closes the database, if it was opened. */
  close(): Promise<void>
}

/** The database is opened on first use; `signal` ends that. */
export function openInstallation(env: Environment, signal: AbortSignal): Installation {
  const config = withRunning(readConfig(env), env)
  const clock = new DatabaseClock()
  let opening: Promise<Store> | undefined
  let closing: Promise<void> | undefined

  async function open(schema: StoreOptions['schema']): Promise<Store> {
    // Loaded on demand: with an API key, a command needs no database.
    const [{ openStore }, { ensureToday }, { silentLogger }] = await Promise.all([
      import('@parley/server/db/store'),
      import('@parley/server/db/partitions'),
      import('@parley/server/telemetry/silent-logger'),
    ])
    const store = await openStore(config, { purpose: 'visitor', log: silentLogger, say: sayAside, schema, signal })
    try {
      await clock.sync(store.db)
      // Today's partitions may not exist yet: the service creates them, and it may not have run for a while.
      if (schema === 'require') await ensureToday(store.db, clock)
      return store
    } catch (error) {
      await store.close()
      throw error
    }
  }

  return {
    config,
    clock,
    running: () => (config.databaseUrl === null ? readRunning(config.dataDir) : undefined),
    store(schema) {
      opening ??= open(schema)
      return opening
    },
    // Closes only once: the end of the command and a signal can both call this, and both wait for the same promise.
    close() {
      closing ??= (async () => (await opening?.catch(() => undefined))?.close())()
      return closing
    },
  }
}
