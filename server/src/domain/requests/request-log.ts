import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/access-check.ts'
import { FairShares } from '../../lib/fair-shares.ts'
import type { Logger } from '../../lib/logger.ts'
import { dayOf, LogBatch } from './log-batch.ts'
import { existingRequestIds, insertRequests } from './requests.sql.ts'
import { withoutSecrets } from './secrets.ts'

const flushMs = 250
const flushAt = 3000
const maxBatch = 4000
/**
 * Requests that wait for the database, of all workspaces: up to about 30 MB. Those without a workspace never take the places of
 * a workspace's.
 */
const defaultPlaces = { ofWorkspaces: 50_000, unauthenticated: 2_000 }
const stopAttempts = 3

/**
 * The request log: written in batches in the background, about a quarter of a second late. The queue is bounded: if the
 * database is slower than the requests, or down, each workspace may fill its share of the queue. Further requests of that
 * workspace are dropped and their number is logged. A record that the database rejects is logged and skipped, so that it
 * does not block the others.
 */
export class RequestLog {
  readonly #db: Db
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  readonly #first: () => Promise<void>
  /** Oldest first; new records go into the last one. */
  #batches: LogBatch[] = []
  readonly #ofWorkspaces: FairShares
  readonly #maxUnauthenticated: number
  #unauthenticated = 0
  #lost = 0
  /** The last write failed: batches wait for the timer, and may have been written although we got an error. */
  #isFailing = false
  #writing: Promise<void> | undefined

  /** `first` runs before each write and does not fail: what belongs to the requests is written before them. */
  constructor(db: Db, log: Logger, first: () => Promise<void> = async () => {}, places = defaultPlaces) {
    this.#db = db
    this.#log = log
    this.#first = first
    this.#ofWorkspaces = new FairShares(places.ofWorkspaces)
    this.#maxUnauthenticated = places.unauthenticated
    this.#timer = setInterval(() => void this.flush(), flushMs)
    this.#timer.unref()
  }

  get waiting(): number {
    return this.#ofWorkspaces.taken + this.#unauthenticated
  }

  record(record: RequestRecord): void {
    const workspaceId = record.caller?.workspaceId ?? null
    if (!this.#takePlace(workspaceId)) {
      this.#lost++
      this.#db.process.metrics.add('requests not logged', 'too many waiting')
      return
    }
    try {
      this.#batchFor(record).add(sanitize(record))
    } catch (error) {
      this.#releasePlaces(workspaceId, 1)
      this.#reportEntry(error, record.id)
      return
    }
    if (this.waiting >= flushAt && !this.#isFailing && !this.#writing) void this.flush()
  }

  /** Writes everything in the queue. Resolves when it is written, or when the database failed; then it stays queued. */
  flush(): Promise<void> {
    if (!this.#writing && this.waiting > 0) {
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined
      })
    }
    return this.#writing ?? Promise.resolve()
  }

  /** Writes the rest of the queue, so that the log is complete after a clean stop. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#writing
    for (let attempt = 0; attempt < stopAttempts && this.waiting > 0; attempt++) await this.flush()
    if (this.waiting > 0) this.#reportLost(this.waiting)
  }

  #batchFor({ at }: RequestRecord): LogBatch {
    const last = this.#batches.at(-1)
    const day = dayOf(at)
    if (last && last.day === day && last.size < maxBatch) return last
    const batch = new LogBatch(day)
    this.#batches.push(batch)
    return batch
  }

  async #write(): Promise<void> {
    for (let batch = this.#batches.shift(); batch; batch = this.#batches.shift()) {
      await this.#first()
      const left = await this.#insert(batch)
      if (left.length > 0) return void this.#batches.unshift(...left)
    }
    if (this.#lost > 0) this.#reportLost(this.#lost)
    this.#lost = 0
  }

  /** Writes a batch and returns the parts that have to wait. Halving the batch isolates a record that the database rejects. */
  async #insert(batch: LogBatch): Promise<LogBatch[]> {
    const parts = [batch]
    for (let part = parts.shift(); part; part = parts.shift()) {
      try {
        await insertRequests(this.#db, this.#isFailing ? await this.#withoutLogged(part) : part)
        this.#isFailing = false
        for (const [workspaceId, count] of part.countByWorkspace()) {
          this.#releasePlaces(workspaceId, count)
          if (workspaceId !== null) this.#db.notify(workspaceId, 'requests')
        }
      } catch (error) {
        if (!isDataError(error)) {
          if (!this.#isFailing) {
            const fields = { event: 'request_log.write_failed', err: error } as const
            this.#log.warn(fields, 'writing the request log failed; retrying')
          }
          this.#isFailing = true
          return [part, ...parts]
        }
        if (part.size > 1) parts.unshift(...part.halves())
        else {
          for (const [workspaceId, count] of part.countByWorkspace()) this.#releasePlaces(workspaceId, count)
          this.#reportEntry(error, part.idOf(0))
        }
      }
    }
    return []
  }

  async #withoutLogged(part: LogBatch): Promise<LogBatch> {
    const ids = Array.from({ length: part.size }, (_, index) => part.idOf(index))
    const logged = await existingRequestIds(this.#db, part.day, ids)
    return part.filter((index) => !logged.has(ids[index] as string))
  }

  #takePlace(workspaceId: string | null): boolean {
    if (workspaceId !== null) return this.#ofWorkspaces.take(workspaceId)
    if (this.#unauthenticated >= this.#maxUnauthenticated) return false
    this.#unauthenticated++
    return true
  }

  #releasePlaces(workspaceId: string | null, count: number): void {
    if (workspaceId === null) this.#unauthenticated -= count
    else this.#ofWorkspaces.release(workspaceId, count)
  }

  #reportEntry(error: unknown, requestId: string): void {
    this.#db.process.metrics.add('requests not logged', 'rejected')
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
 * Errors caused by the data, which a retry would not fix: SQLSTATE classes 21 to 23. Except 23514: another process created
 * the partition between our check and our write.
 */
export function isDataError(error: unknown): boolean {
  return /^2[123](?!514)...$/.test((error as { code?: string }).code ?? '')
}

const maxDurationUs = 2 ** 31 - 1

function sanitize(record: RequestRecord): RequestRecord {
  const { route, userAgent, durationUs } = record
  if (!unsafe.test(route) && !unsafe.test(userAgent ?? '') && durationUs <= maxDurationUs) return record
  return {
    ...record,
    route: sanitizeText(route),
    userAgent: userAgent === null ? null : sanitizeText(userAgent),
    durationUs: Math.min(durationUs, maxDurationUs),
  }
}

/** Removes characters that PostgreSQL rejects, and secrets that a client put into the path or the user agent. */
function sanitizeText(text: string): string {
  if (!unsafe.test(text)) return text
  return withoutSecrets(text).replaceAll('\0', '').toWellFormed()
}

const unsafe = /[\0\ud800-\udfff]|prl_live_|whsec_/
