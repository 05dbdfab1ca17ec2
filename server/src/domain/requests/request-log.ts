import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/access-check.ts'
import type { Logger } from '../../lib/logger.ts'
import { dayOf, LogBatch } from './log-batch.ts'
import { existingRequestIds, insertRequests } from './requests.sql.ts'

const flushMs = 250
const flushAt = 3000
const batchMax = 4000
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
  /** The oldest first; the last one is being filled. */
  #batches: LogBatch[] = []
  #waiting = 0
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
    return this.#waiting
  }

  record(record: RequestRecord): void {
    try {
      this.#batchFor(record).add(tidy(record))
    } catch (error) {
      this.#reportEntry(error, record.id)
      return
    }
    this.#waiting++
    if (this.#waiting > waitingMax) this.#bound()
    if (this.#waiting >= flushAt && !this.#troubled && !this.#writing) void this.flush()
  }

  /** Writes all that waits. Resolves when it is written, or when the database was away; then it waits on. */
  flush(): Promise<void> {
    if (!this.#writing && this.#waiting > 0) {
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
    for (let tries = 0; tries < stopTries && this.#waiting > 0; tries++) await this.flush()
    if (this.#waiting > 0) this.#reportLost(this.#waiting)
  }

  #batchFor({ at }: RequestRecord): LogBatch {
    const last = this.#batches.at(-1)
    const day = dayOf(at)
    if (last && last.day === day && last.size < batchMax) return last
    const batch = new LogBatch(day)
    this.#batches.push(batch)
    return batch
  }

  async #write(): Promise<void> {
    for (let batch = this.#batches.shift(); batch; batch = this.#batches.shift()) {
      this.#waiting -= batch.size
      const left = await this.#insert(batch)
      if (left.length > 0) {
        this.#batches.unshift(...left)
        for (const each of left) this.#waiting += each.size
        this.#bound()
        return
      }
    }
    if (this.#lost > 0) this.#reportLost(this.#lost)
    this.#lost = 0
  }

  /** Writes a batch and returns what has to wait. Where a record is at fault, halving the batch finds it. */
  async #insert(batch: LogBatch): Promise<LogBatch[]> {
    const parts = [batch]
    for (let part = parts.shift(); part; part = parts.shift()) {
      try {
        await insertRequests(this.#db, this.#troubled ? await this.#missing(part) : part)
        this.#troubled = false
        for (const workspaceId of part.workspaces) this.#db.notify(workspaceId, 'requests')
      } catch (error) {
        if (!isAboutData(error)) {
          if (!this.#troubled) {
            const fields = { event: 'request_log.write_failed', err: error } as const
            this.#log.warn(fields, 'writing the request log failed; retrying')
          }
          this.#troubled = true
          return [part, ...parts]
        }
        if (part.size > 1) parts.unshift(...part.halves())
        else this.#reportEntry(error, part.idOf(0))
      }
    }
    return []
  }

  async #missing(part: LogBatch): Promise<LogBatch> {
    const ids = Array.from({ length: part.size }, (_, index) => part.idOf(index))
    const logged = await existingRequestIds(this.#db, part.day, ids)
    return part.only((index) => !logged.has(ids[index] as string))
  }

  #bound(): void {
    while (this.#waiting > waitingMax) {
      const dropped = this.#batches.shift()?.size ?? 0
      this.#waiting -= dropped
      this.#lost += dropped
    }
  }

  #reportEntry(error: unknown, requestId: string): void {
    this.#log.error(
      { event: 'request_log.entry_failed', err: error, request_id: requestId },
      'a request was not logged',
    )
  }

  #reportLost(lost: number): void {
    const fields = { event: 'request_log.entries_lost', requests: lost } as const
    this.#log.error(fields, 'requests were not logged: too many waited for the database')
  }
}

/**
 * The values are at fault, and would be again: SQLSTATE classes 21 to 23. Not 23514, which is a partition that was made
 * between our look and our writing.
 */
function isAboutData(error: unknown): boolean {
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
