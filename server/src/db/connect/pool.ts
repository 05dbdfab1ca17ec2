import pg from 'pg'
import { isDiskError } from '../../lib/disk.ts'
import { lifetimeSeconds, waitForConnectionMs } from './limits.ts'
import { ReadOnlyServer, ServerClient, type Servers } from './server-client.ts'
import type { SilenceWatch } from './silence-watch.ts'
import { isStalePlan, StalePlan } from './stale-plan.ts'

export type Borrow = <T>(work: (client: pg.ClientBase) => Promise<T>) => Promise<T>

export interface Pool {
  borrow: Borrow
  usage(): { open: number; idle: number; waiting: number }
  close(): Promise<void>
}

export interface PoolOptions {
  servers: Servers
  watch: SilenceWatch
  max: number
  /** When a statement is given up, even if the server says that it still works on it. */
  maxMs: number
  setUp: string
  onReadOnly(error: Error): void
  onDiskError(error: Error): void
  /** An idle connection was lost. */
  onLost(error: Error): void
}

export function newPool({ servers, watch, max, maxMs, setUp, onReadOnly, onDiskError, onLost }: PoolOptions): Pool {
  class PooledClient extends ServerClient {
    constructor(options: pg.ClientConfig) {
      super(servers, options)
    }
  }
  const pool = new pg.Pool({
    max,
    idleTimeoutMillis: 30_000,
    connectionTimeoutMillis: waitForConnectionMs,
    maxLifetimeSeconds: lifetimeSeconds,
    // With pipelining, a statement is sent before the response to the one before it has arrived. So `begin` and the
    // workspace setting cost no extra round trip.
    pipeline: true,
    // The types of the pool do not say that it passes its options on.
    Client: PooledClient as never,
    // The settings are the first statement and not in the startup packet, because connection poolers drop them there.
    verify(opened, done) {
      const client = opened as unknown as PooledClient
      client.setUp(setUp).then(() => {
        // If the statement has stopped waiting for it, it becomes idle.
        watch.stop(client)
        done()
      }, done)
    },
  } as pg.PoolConfig)
  pool.on('error', onLost)
  // While `verify` runs, the connection is not borrowed yet.
  pool.on('connect', (client) => watch.start(client as unknown as PooledClient, maxMs))
  pool.on('remove', (client) => watch.stop(client as unknown as PooledClient))

  async function take(): Promise<PooledClient & pg.PoolClient> {
    for (let attempt = 1; ; ) {
      try {
        const client = (await pool.connect()) as unknown as PooledClient & pg.PoolClient
        if (client.generation === servers.generation) return client
        client.destroy()
        client.release(true)
      } catch (error) {
        if (isDiskError(error)) onDiskError(error as Error)
        // It failed at one server; the others follow. A connection that never became free is not tried again.
        if (attempt++ >= servers.count || /trying to connect/.test((error as Error).message)) throw error
      }
    }
  }

  return {
    usage: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => pool.end(),
    async borrow(work) {
      const client = await take()
      let broken: Error | undefined
      // The pool only listens for errors of idle connections. If a connection is lost between two statements of a
      // transaction, the next statement must fail, not the process.
      const onBroken = (error: Error) => {
        broken = error
      }
      client.on('error', onBroken)
      watch.start(client, maxMs)
      try {
        return await work(client)
      } catch (error) {
        if (isReadOnly(error) && !servers.isReplica) {
          broken = new ReadOnlyServer()
          client.leaveServer()
          // Others may have reported it already. Connections that were opened since then are not affected.
          if (client.generation === servers.generation) onReadOnly(broken)
          throw broken
        }
        if (isDiskError(error)) onDiskError(error as Error)
        if (isStalePlan(error)) {
          broken = new StalePlan()
          // The other connections prepared it before the migration too.
          if (client.generation === servers.generation) servers.generation++
          throw broken
        }
        if (isConnectionError(error)) broken ??= error as Error
        // The next statement only fails with "not queryable". Throw the error that broke the connection instead.
        throw broken && /not queryable/.test((error as Error).message) ? broken : error
      } finally {
        watch.stop(client)
        client.off('error', onBroken)
        client.release(broken)
      }
    },
  }
}

/**
 * An error from PostgreSQL leaves the connection usable, except 57P…, which means that the server is shutting down, 25P03,
 * with which it ends a transaction that was idle for too long, and 08…, with which a pooler closes a connection.
 */
function isConnectionError(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return /^(57P|25P03|08)/.test(error.code ?? '')
  return error instanceof Error && ('errno' in error || /connection|timeout|terminated/i.test(error.message))
}

/** The connection was lost, or no server is writable: what was sent may or may not have been committed. */
export const isDatabaseAway = (error: unknown): boolean =>
  error instanceof ReadOnlyServer ||
  isConnectionError(error) ||
  // The server has no connection left.
  (error as { code?: string } | undefined)?.code === '53300'

const isReadOnly = (error: unknown): boolean => (error as { code?: string } | undefined)?.code === '25006'
