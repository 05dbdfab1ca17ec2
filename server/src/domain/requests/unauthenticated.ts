import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/access-check.ts'
import { addressBlock } from '../../lib/addresses.ts'
import type { Logger } from '../../lib/logger.ts'
import { CountBatches } from './count-batches.ts'
import { addUnauthenticated, type UnauthenticatedRow } from './unauthenticated.sql.ts'

/** How many requests of one client, error and minute are in the request log. Enough to see what the client does. */
export const loggedPerClient = 10
/**
 * How many are logged of all clients in a minute and process, so that a client with many addresses cannot fill the disk.
 * The first of each client that is counted separately is logged in any case.
 */
export const loggedPerMinute = 1000
/** Clients and errors that are counted separately in a minute. All others of that minute are added up. */
export const clientsPerMinute = 250
/** While the database is down, clients are counted separately for this many minutes. */
const maxMinutes = 10
const flushMs = 500
const minuteMs = 60_000

/** Counts that are not yet written, of a client or of those that are not counted separately (null). */
interface Counted extends UnauthenticatedRow {
  /** Includes those that are written. */
  loggedInMinute: number
}

interface Minute {
  /** By client and error. */
  counts: Map<string, Counted>
  /** Requests in the log, beyond the first of each client. */
  logged: number
}

/**
 * Requests that belong to no workspace, because their key is missing or unknown. Anyone can send any number of them, so they
 * are counted in memory by client, error and minute, and only the first of each are passed on to the request log.
 */
export class UnauthenticatedRequests {
  readonly #db: Db
  readonly #batches: CountBatches<UnauthenticatedRow>
  readonly #log: Logger
  readonly #next: (record: RequestRecord) => void
  readonly #timer: NodeJS.Timeout
  /** By minute since 1970. */
  readonly #minutes = new Map<number, Minute>()
  #latestMinute = 0
  #writing: Promise<void> = Promise.resolve()
  #isFailing = false

  constructor(db: Db, log: Logger, next: (record: RequestRecord) => void) {
    this.#db = db
    this.#batches = new CountBatches((id, rows) => addUnauthenticated(db, id, rows))
    this.#log = log
    this.#next = next
    this.#timer = setInterval(() => void this.#flush(), flushMs)
    this.#timer.unref()
  }

  /** Passes on the requests of a workspace, and the first of the others. */
  record(record: RequestRecord): void {
    if (record.caller || this.#count(record)) this.#next(record)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flush()
  }

  /** True if the request itself is logged too. */
  #count({ at, code, address }: RequestRecord): boolean {
    const minute = this.#minuteOf(at)
    const counted = this.#countedOf(minute, at, code, addressBlock(address))
    counted.count++
    if (at < counted.firstAt) counted.firstAt = at
    if (at > counted.lastAt) counted.lastAt = at
    const isLogged = takesMore(minute, counted)
    this.#db.process.metrics.add('unauthenticated requests', isLogged ? 'request' : 'count')
    if (!isLogged) return false
    counted.logged++
    counted.loggedInMinute++
    return true
  }

  #minuteOf(at: Date): Minute {
    const number = Math.floor(at.getTime() / minuteMs)
    this.#latestMinute = number
    const found = this.#minutes.get(number)
    if (found) return found
    const minute = { counts: new Map<string, Counted>(), logged: 0 }
    this.#minutes.set(number, minute)
    return minute
  }

  #countedOf({ counts }: Minute, at: Date, code: string | null, client: string): Counted {
    const found = counts.get(`${code} ${client}`)
    if (found) return found
    const isSeparate = counts.size < clientsPerMinute && this.#minutes.size <= maxMinutes
    const key = isSeparate ? `${code} ${client}` : `${code}`
    const shared = counts.get(key)
    if (shared) return shared
    const counted = {
      minute: new Date(Math.floor(at.getTime() / minuteMs) * minuteMs),
      code,
      client: isSeparate ? client : null,
      count: 0,
      logged: 0,
      firstAt: at,
      lastAt: at,
      loggedInMinute: 0,
    }
    counts.set(key, counted)
    return counted
  }

  #flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  async #write(): Promise<void> {
    try {
      await this.#batches.write(() => this.#takeAll())
      this.#isFailing = false
    } catch (error) {
      const fields = { event: 'traffic.write_failed', err: error } as const
      if (!this.#isFailing) this.#log.warn(fields, 'writing request counts failed; retrying')
      this.#isFailing = true
      return
    }
    for (const [minute, { counts }] of this.#minutes) {
      const isWritten = [...counts.values()].every(({ count }) => count === 0)
      // The one before too, for requests that take a while. A minute in the future was opened before the clock was set back.
      if (Math.abs(minute - this.#latestMinute) > 1 && isWritten) this.#minutes.delete(minute)
    }
  }

  #takeAll(): UnauthenticatedRow[] {
    const due = [...this.#minutes.values()]
      .flatMap(({ counts }) => [...counts.values()])
      .filter(({ count }) => count > 0)
    const rows = due.map((counted) => ({ ...counted }))
    for (const counted of due) Object.assign(counted, { count: 0, logged: 0 })
    return rows
  }
}

/** Whether one more request of this client and error is logged. */
function takesMore(minute: Minute, { client, loggedInMinute }: Counted): boolean {
  if (client === null || loggedInMinute >= loggedPerClient) return false
  return loggedInMinute === 0 || ++minute.logged <= loggedPerMinute
}
