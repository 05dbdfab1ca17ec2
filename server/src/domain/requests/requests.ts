import { type ErrorCode, errorCatalogue } from '@parley/contract/errors'
import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/gate.ts'
import type { Logger } from '../../lib/logger.ts'
import { insertRequests, refusalGroups, requestsOf } from './requests.sql.ts'

const flushMs = 250
const flushAt = 1000
const batchMax = 2000
const waitingMax = 50_000

/**
 * The log of requests: written in batches, never waited for by a request, at most a second behind. What waits is
 * bounded; when the database is away for so long that the bound is met, the oldest go, and their number is told.
 */
export class RequestLog {
  readonly #db: Db
  readonly #log: Logger
  #waiting: RequestRecord[] = []
  #lost = 0
  #flushing: Promise<void> = Promise.resolve()
  #busy = false
  readonly #timer: NodeJS.Timeout

  constructor(db: Db, log: Logger) {
    this.#db = db
    this.#log = log
    this.#timer = setInterval(() => void this.flush(), flushMs)
    this.#timer.unref()
  }

  record(record: RequestRecord): void {
    this.#waiting.push(record)
    if (this.#waiting.length >= flushAt && !this.#busy) void this.flush()
    if (this.#waiting.length > waitingMax) {
      this.#waiting.shift()
      this.#lost++
    }
  }

  /** Writes all that waits. Resolves when it is written, or when the database has refused it; then it waits on. */
  flush(): Promise<void> {
    if (!this.#busy && this.#waiting.length > 0) this.#flushing = this.#write()
    return this.#flushing
  }

  /** Complete after a clean stop. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flushing
    await this.flush()
  }

  async #write(): Promise<void> {
    this.#busy = true
    try {
      while (this.#waiting.length > 0) {
        const batch = this.#waiting.splice(0, batchMax)
        try {
          await insertRequests(this.#db, batch)
        } catch (error) {
          this.#waiting = [...batch, ...this.#waiting].slice(-waitingMax)
          this.#log.warn({ err: error, waiting: this.#waiting.length }, 'the request log could not be written yet')
          return
        }
      }
      if (this.#lost > 0) this.#log.error({ lost: this.#lost }, 'requests were not logged: too many waited')
      this.#lost = 0
    } finally {
      this.#busy = false
    }
  }
}

export interface RefusalGroup {
  code: string
  title: string
  cause: string
  remedy: string
  count: number
  firstAt: Date
  lastAt: Date
  /** The ten busiest; how many there are in all stands beside. */
  keys: string[]
  keyCount: number
  addresses: string[]
  addressCount: number
}

/** Refusals grouped by error, the most frequent first, with what each means. */
export async function listRefusals(db: Db, workspaceId: string | null, since: Date): Promise<RefusalGroup[]> {
  return (await refusalGroups(db, workspaceId, since)).map((row) => {
    const entry = errorCatalogue[row.code as ErrorCode] ?? { title: row.code, cause: '', remedy: '' }
    return {
      code: row.code,
      title: entry.title,
      cause: entry.cause,
      remedy: entry.remedy,
      count: row.count,
      firstAt: row.first_at,
      lastAt: row.last_at,
      keys: row.keys,
      keyCount: row.key_count,
      addresses: row.addresses,
      addressCount: row.address_count,
    }
  })
}

/** Logged requests, the newest first. */
export const listRequests = requestsOf
