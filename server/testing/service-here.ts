import { onTestFinished } from 'vitest'
import { readConfig } from '../src/config.ts'
import type { Connection } from '../src/db/db.ts'
import { type ServiceOptions, startService } from '../src/start.ts'
import { newLogger } from '../src/telemetry/logger.ts'
import { type DatabaseProxy, startDatabaseProxy } from './database-proxy.ts'
import { secretKeys, urlOf } from './service.ts'

/** A service that runs in the process of the test. */
export interface ServiceHere {
  url: string
  stop(): Promise<void>
  /** Its log so far. */
  output(): string
}

/**
 * Starts the service in this process, with its own connections and in-memory state. It costs a tenth of `spawnService`,
 * so it is for tests that need several services, but no signals, clocks or limits of a process. It may deliver to
 * receivers on this machine. Services that still run are stopped at the end of the test.
 */
export async function startHere(
  connection: Connection,
  env: Record<string, string> = {},
  options: Pick<ServiceOptions, 'stopLimits'> = {},
): Promise<ServiceHere> {
  const lines: string[] = []
  const config = readConfig({
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'error',
    DATABASE_URL: urlOf(connection),
    PARLEY_WEBHOOK_ALLOW_HTTP: 'true',
    PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    PARLEY_SECRET_KEYS: [...secretKeys].map(([name, key]) => `${name}:${key.toString('base64')}`).join(),
    ...env,
  })
  const log = newLogger(config.logLevel, { write: (line) => lines.push(line) })
  const service = await startService({ config, log, ...options })
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= service.stop()
    return stopped
  }
  try {
    onTestFinished(stop)
  } catch {
    // Called in a hook, where there is no test. The test file stops it itself.
  }
  return { url: service.url, stop, output: () => lines.join('') }
}

/**
 * The same for a service that dies: after `kill` it is cut off from the database until the test ends, so it records, claims and
 * releases nothing more, as after SIGKILL.
 */
export async function startMortal(
  connection: Connection,
  env: Record<string, string> = {},
): Promise<ServiceHere & { kill(): void }> {
  const proxy: DatabaseProxy = await startDatabaseProxy(connection)
  const service = await startHere(proxy.connection, env)
  onTestFinished(() => proxy.restore())
  return { ...service, kill: () => proxy.cut() }
}
