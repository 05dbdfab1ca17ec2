import type { Socket } from 'node:net'
import pg from 'pg'
import type { Connection } from './connection.ts'
import { connectMs, keepAliveAfterMs } from './limits.ts'

/** The servers of a database. Connections are opened to the current one. */
export class Servers {
  readonly #all: readonly pg.ClientConfig[]
  #at = 0
  /** Connections of an earlier generation may lead to a server that is gone or read-only, and are not used again. */
  generation = 0
  readonly isReplica: boolean

  constructor({ otherServers = [], direct: _, isReplica = false, ...first }: Connection) {
    this.#all = [first, ...otherServers]
    this.isReplica = isReplica
  }

  get count(): number {
    return this.#all.length
  }

  get current(): pg.ClientConfig {
    return this.#all[this.#at] as pg.ClientConfig
  }

  /** Makes the next server the current one, unless another connection has already left this one. */
  leave(server: pg.ClientConfig): void {
    if (server === this.current) this.#at = (this.#at + 1) % this.#all.length
  }
}

/** The server accepts no changes: it is a standby, or was demoted. Counts as a lost connection. */
export class ReadOnlyServer extends Error {
  readonly code = '25006'

  constructor() {
    super('Connection terminated: the database server is read-only')
  }
}

export class ServerClient extends pg.Client {
  readonly #servers: Servers
  readonly #server: pg.ClientConfig
  readonly generation: number
  /** The process of PostgreSQL that serves this connection. Behind a pooler, the one of the current transaction, or 0. */
  pid = 0
  /**
   * For `SilenceWatch`: the looks in a row that found nothing received. Looks, not milliseconds: while this process is
   * frozen, none count.
   */
  readonly silence = { looks: 0, bytesRead: -1, maxLooks: 0 }

  constructor(servers: Servers, options: pg.ClientConfig = {}) {
    const server = servers.current
    super({
      ...options,
      ...server,
      keepAlive: true,
      keepAliveInitialDelayMillis: keepAliveAfterMs,
      connectionTimeoutMillis: servers.count > 1 ? connectMs.oneOfSeveral : connectMs.only,
    })
    this.#servers = servers
    this.#server = server
    this.generation = servers.generation
    // Without a listener a lost connection would end the process. The running statement fails, and `end` is emitted.
    this.on('error', () => {})
  }

  // Also called by the pool, with a callback.
  override connect(): Promise<this>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): unknown {
    if (!callback) {
      return new Promise((resolve, reject) => this.connect((error) => (error ? reject(error) : resolve(this))))
    }
    return super.connect((error: Error) => {
      if (error) this.leaveServer()
      callback(error)
    })
  }

  /** Applies the settings of this connection, if any, in one round trip. Fails if the server is read-only and no replica. */
  async setUp(settings: string): Promise<void> {
    const check = `select pg_backend_pid() as pid, current_setting('transaction_read_only') = 'on' as read_only`
    const text = settings ? `${settings}; ${check}` : check
    try {
      // The limit is unknown to the types of a query. Nothing else watches a connection that is not in use yet.
      const { pid, read_only: isReadOnly } = lastRow(
        await this.query({ text, query_timeout: connectMs.only } as pg.QueryConfig),
      )
      if (isReadOnly && !this.#servers.isReplica) throw new ReadOnlyServer()
      this.pid = pid
    } catch (error) {
      this.leaveServer()
      throw error
    }
  }

  leaveServer(): void {
    this.#servers.leave(this.#server)
  }

  get bytesRead(): number {
    return this.#stream.bytesRead
  }

  /** Closes the connection without waiting for the server. Running statements fail with this error. */
  destroy(error?: Error): void {
    this.#stream.destroy(error)
  }

  get #stream() {
    // `pg` has the socket, but not in its types of a client.
    return (this as unknown as { connection: pg.Connection }).connection.stream as Socket
  }
}

/** The last row of a text with one or several statements. For several, `pg` returns an array, unlike its types say. */
export const lastRow = (results: pg.QueryResult): pg.QueryResultRow =>
  ([results].flat() as pg.QueryResult[]).at(-1)?.rows.at(-1) as pg.QueryResultRow

/** Opens a connection to the first server that accepts one and is writable. `signal` cancels it. */
export async function connectClient(servers: Servers, settings: string, signal?: AbortSignal): Promise<ServerClient> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    const client = new ServerClient(servers)
    const leave = () => client.destroy(signal?.reason)
    signal?.addEventListener('abort', leave)
    try {
      await client.connect()
      await client.setUp(settings)
      return client
    } catch (error) {
      client.destroy()
      signal?.throwIfAborted()
      if (attempt >= servers.count) throw error
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }
}
