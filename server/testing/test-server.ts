import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { type Api, type ApiOptions, buildApi } from '../src/api.ts'
import type { Environment } from '../src/config.ts'
import { type Connection, type Database, openDatabase } from '../src/db/db.ts'
import { ensurePartitions } from '../src/db/partitions.ts'
import { logDatabaseErrors } from '../src/db/store.ts'
import type { Clock } from '../src/lib/clock.ts'
import type { SecretKeys } from '../src/lib/seal.ts'
import type { Runtime } from '../src/runtime.ts'
import { type Logger, newLogger } from '../src/telemetry/logger.ts'
import { type ApiResponse, type CallOptions, callApi } from './call.ts'
import { newDatabaseWithDays } from './database.ts'
import { FakeClock } from './fake-clock.ts'
import { openApiCheck } from './openapi-check.ts'
import { newRuntime } from './runtime.ts'

/** The service in a test: real HTTP on its own port, a real database, and a clock that the test moves. */
export interface TestServer {
  url: string
  clock: FakeClock
  db: Database
  connection: Connection
  runtime: Runtime
  api: Api
  secretKeys: SecretKeys
  /** The log lines so far. */
  logged: string[]
  /** Moves the clock by days and creates the partitions of the new days, as a running service does. */
  passDays(days: number): Promise<void>
  /** Calls the API and checks the response against the OpenAPI document. */
  call(path: string, options?: CallOptions): Promise<ApiResponse>
}

export interface TestServerOptions extends Omit<ApiOptions, 'whyNotReady'>, Partial<Pick<Runtime, 'replica'>> {
  trustProxy?: readonly string[]
  /** More settings. */
  env?: Environment
}

/** Starts a test server for the tests of this file. */
export function useTestServer(options: TestServerOptions = {}): TestServer {
  const server = {} as TestServer
  let close = async () => {}
  beforeAll(async () => {
    const opened = await startTestServer(options)
    close = opened.close
    Object.assign(server, opened.server)
  })
  afterAll(() => close())
  return server
}

export async function startTestServer(options: TestServerOptions = {}) {
  const { connection, drop } = await newDatabaseWithDays()
  const logged: string[] = []
  const log = newLogger('debug', { write: (line) => void logged.push(line) })
  const clock = new FakeClock()
  const secretKeys = new Map([['test', randomBytes(32)]])
  const { url, db, api, runtime, close } = await serveApi({ connection, clock, secretKeys }, log, options)
  const server: TestServer = {
    url,
    clock,
    db,
    connection,
    runtime,
    api,
    secretKeys,
    logged,
    passDays(days) {
      clock.forward({ hours: 24 * days })
      // A day ahead is enough. Each partition costs several milliseconds.
      return ensurePartitions(db, clock, 1)
    },
    async call(path, callOptions = {}) {
      const response = await callApi(url + path, callOptions)
      if (path.startsWith('/v1')) openApiCheck(options.moreRoutes)(callOptions.method ?? 'GET', path, response)
      return response
    },
  }
  return {
    server,
    async close() {
      await close()
      await drop()
    },
  }
}

/** Serves the API for a test server's database, with its own port, connections and in-memory state. */
export async function serveApi(
  { connection, clock, secretKeys }: Pick<TestServer, 'connection' | 'secretKeys'> & { clock: Clock },
  log: Logger,
  { trustProxy = [], env = {}, replica = null, ...options }: TestServerOptions = {},
) {
  const db = openDatabase(connection, logDatabaseErrors(log), 5)
  const runtime = newRuntime({ db, replica, clock, log, secretKeys, trustProxy, env })
  const api = await buildApi(runtime, { whyNotReady: db.whyNotWritable, ...options })
  const url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  return {
    url,
    db,
    api,
    runtime,
    async close() {
      await api.app.close()
      await api.flush()
      await db.close()
    },
  }
}
