import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { connectMs, limitSettings, requestLimits, setText } from './limits.ts'
import { connectClient, type ServerClient, type Servers } from './server-client.ts'

/** How often the connections in use are looked at. */
export const lookEveryMs = 1_000

/** After so many looks without a byte from the server, it is asked whether it still works on the statement. */
const askAfterLooks = 8

/**
 * Finds connections that went silent: a firewall dropped them, or the server is gone without closing them. PostgreSQL's
 * own limits cannot help then, and the kernel gives up only after about 15 minutes. A slow statement looks the same
 * from here, so a new connection asks the server which of the statements it still works on.
 *
 * A connection is looked at while it is in use. There is no timer per statement.
 */
export class SilenceWatch {
  readonly #inUse = new Set<ServerClient>()
  readonly #findIdle: (pids: number[]) => Promise<IsIdle>
  readonly #onSilent: (error: Error) => void
  readonly #everyMs: number
  readonly #timer: NodeJS.Timeout
  #isAsking = false

  /** `findIdle` asks about the server processes with these IDs. `onSilent` is called once per finding. */
  constructor(
    findIdle: (pids: number[]) => Promise<IsIdle>,
    onSilent: (error: Error) => void,
    everyMs: number = lookEveryMs,
  ) {
    this.#findIdle = findIdle
    this.#onSilent = onSilent
    this.#everyMs = everyMs
    this.#timer = setInterval(() => this.#look(), everyMs).unref()
  }

  /** `maxMs` is when the connection is closed in any case, even if the server says that it still works. */
  start(client: ServerClient, maxMs: number): void {
    client.silence.looks = 0
    client.silence.maxLooks = maxMs / this.#everyMs
    this.#inUse.add(client)
  }

  stop(client: ServerClient): void {
    this.#inUse.delete(client)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const overdue: ServerClient[] = []
    const quiet: ServerClient[] = []
    for (const client of this.#inUse) {
      const { bytesRead, silence } = client
      silence.looks = bytesRead === silence.bytesRead ? silence.looks + 1 : 0
      silence.bytesRead = bytesRead
      if (silence.looks >= silence.maxLooks) overdue.push(client)
      else if (silence.looks > 0 && silence.looks % askAfterLooks === 0) quiet.push(client)
    }
    this.#end(overdue)
    if (quiet.length > 0 && !this.#isAsking) void this.#ask(quiet)
  }

  async #ask(quiet: readonly ServerClient[]): Promise<void> {
    this.#isAsking = true
    try {
      const isIdle = await this.#findIdle(quiet.map(({ pid }) => pid))
      // A response may still be on its way.
      await sleep(this.#everyMs, undefined, { ref: false })
      // Connections that were returned to the pool and used again have fewer looks. If no server could be asked, that
      // took long, and others have become quiet.
      const isSilent = ({ pid, bytesRead, silence }: ServerClient) =>
        isIdle(pid) && bytesRead === silence.bytesRead && silence.looks >= askAfterLooks
      this.#end([...this.#inUse].filter(isSilent))
    } finally {
      this.#isAsking = false
    }
  }

  #end(silent: readonly ServerClient[]): void {
    if (silent.length === 0) return
    const error = new Error('Connection terminated: the database server does not respond on it')
    for (const client of silent) {
      this.#inUse.delete(client)
      client.destroy(error)
    }
    this.#onSilent(error)
  }
}

/** Whether a server process works on no statement. If no server can be asked, that is so for all of them. */
export type IsIdle = (pid: number) => boolean

export async function findIdle(servers: Servers, pids: number[]): Promise<IsIdle> {
  let client: ServerClient | undefined
  try {
    client = await connectClient(servers, setText(limitSettings(requestLimits)))
    const { rows } = await client.query({
      text: `select pid from unnest($1::int[]) as asked(pid)
             -- The state is null if this user may not see it.
             where not exists (
               select from pg_stat_activity s where s.pid = asked.pid and coalesce(s.state, '') not like 'idle%')`,
      values: [pids],
      // Unknown to the types of a query. This connection may go silent too.
      query_timeout: connectMs.oneOfSeveral,
    } as pg.QueryConfig)
    const idle = new Set(rows.map(({ pid }) => pid))
    return (pid) => idle.has(pid)
  } catch (error) {
    // The server responds, but has no connection left to ask it.
    const isFull = (error as { code?: string }).code === '53300'
    return () => !isFull
  } finally {
    client?.destroy()
  }
}
