import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/gate.ts'
import type { Logger } from '../../lib/logger.ts'
import { insertRequests, loggedAmong } from './requests.sql.ts'

const flushMs = 250
const flushAt = 1000
const batchMax = 2000
const waitingMax = 50_000
const stopTries = 3

/**
 * The log of requests: written in batches, never waited for by a request, at most a second behind. What waits is
 * bounded; when the database is away for so long that the bound is met, the oldest go, and their number is told. A record
 * that the database will never take is put aside and told, so that it does not hold up the others.
 */
export class RequestLog {
  readonly #db: Db
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  #waiting: RequestRecord[] = []
  #lost = 0
  /** The database could not be reached: batches wait for the timer, and may have been written without our knowing. */
  #troubled = false
  #writing: Promise<void> | undefined

  constructor(db: Db, log: Logger) {
    this.#db = db
    this.#log = log
    this.#timer = setInterval(() => void this.flush(), flushMs)
    this.#timer.unref()
  }

  get waiting(): number {
    return this.#waiting.length
  }

  record(record: RequestRecord): void {
    this.#waiting.push(tidy(record))
    this.#bound()
    if (this.#waiting.length >= flushAt && !this.#troubled) void this.flush()
  }

  /** Writes all that waits. Resolves when it is written, or when the database was away; then it waits on. */
  flush(): Promise<void> {
    if (!this.#writing && this.#waiting.length > 0) {
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined
      })
    }
    return this.#writing ?? Promise.resolve()
  }

  /** Complete after a clean stop. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    for (let tries = 0; tries < stopTries && this.#waiting.length > 0; tries++) await this.flush()
    if (this.#waiting.length > 0) this.#tellLost(this.#waiting.length)
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const left = await this.#insert(this.#waiting.splice(0, batchMax))
      if (left.length > 0) {
        this.#waiting = [...left, ...this.#waiting]
        this.#bound()
        return
      }
    }
    if (this.#lost > 0) this.#tellLost(this.#lost)
    this.#lost = 0
  }

  /** Writes a batch and returns what has to wait. Where a record is at fault, halving the batch finds it. */
  async #insert(batch: RequestRecord[]): Promise<RequestRecord[]> {
    const parts = [batch]
    for (let part = parts.shift(); part; part = parts.shift()) {
      try {
        await insertRequests(this.#db, this.#troubled ? await this.#missing(part) : part)
        this.#troubled = false
        const workspaces = new Set(part.map(({ caller }) => caller?.workspaceId))
        for (const workspaceId of workspaces) if (workspaceId) this.#db.tell(workspaceId, 'requests')
      } catch (error) {
        if (!isAboutData(error)) {
          if (!this.#troubled) this.#log.warn({ err: error }, 'the request log cannot be written for now')
          this.#troubled = true
          return [part, ...parts].flat()
        }
        if (part.length > 1) parts.unshift(part.slice(0, part.length >> 1), part.slice(part.length >> 1))
        else this.#log.error({ err: error, requestId: part[0]?.id }, 'a request could not be logged')
      }
    }
    return []
  }

  async #missing(part: readonly RequestRecord[]): Promise<RequestRecord[]> {
    const logged = await loggedAmong(this.#db, part)
    return part.filter(({ id }) => !logged.has(id))
  }

  #bound(): void {
    const over = this.#waiting.length - waitingMax
    if (over <= 0) return
    // A few more than needed, or each further record would move all the others.
    const dropped = Math.min(this.#waiting.length, over + batchMax)
    this.#waiting.splice(0, dropped)
    this.#lost += dropped
  }

  #tellLost(lost: number): void {
    this.#log.error({ lost }, 'requests were not logged: too many waited for the database')
  }
}

/**
 * The values are at fault, and would be again: SQLSTATE classes 21 to 23, or a value that could not even be written. Not
 * 23514, which is a partition that was made between our look and our writing.
 */
function isAboutData(error: unknown): boolean {
  if (error instanceof RangeError || error instanceof TypeError) return true
  return /^2[123](?!514)...$/.test((error as { code?: string }).code ?? '')
}

const durationMax = 2 ** 31 - 1

function tidy(record: RequestRecord): RequestRecord {
  const { route, userAgent, durationUs } = record
  if (!odd.test(route) && !odd.test(userAgent ?? '') && durationUs <= durationMax) return record
  return {
    ...record,
    route: tidyText(route),
    userAgent: userAgent === null ? null : tidyText(userAgent),
    durationUs: Math.min(durationUs, durationMax),
  }
}

/** What a caller wrote, as the database takes it, and without a secret that was put where none belongs. */
function tidyText(text: string): string {
  if (!odd.test(text)) return text
  return text
    .replaceAll(/(prl_live_|whsec_)[\w+/=%-]*/g, '$1…')
    .replaceAll('\0', '')
    .toWellFormed()
}

const odd = /[\0\ud800-\udfff]|prl_live_|whsec_/
