import { BatchWriter } from '../../db/batch-writer.ts'
import type { Db } from '../../db/db.ts'
import type { KeyUse, RequestRecord } from '../../http/access-check.ts'
import { addressBlock } from '../../net/addresses.ts'
import { CountedWindows } from '../../sharing/counted-windows.ts'
import { FairShares } from '../../sharing/fair-shares.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { KeyCounts } from './key-counts.ts'
import { dayOf, RecordedBatch } from './recorded-batch.ts'
import { writeBatch } from './recorder.sql.ts'
import { invalidSignature } from './rejected-webhooks.ts'
import { UnauthenticatedLimits } from './unauthenticated.ts'

const flushMs = 250
const flushAt = 3000
const stopAttempts = 3
/** Counts of busy keys are added up for this long. The first after a pause are written with the log. */
const countsEveryMs = 10_000

/** What waits for the database. */
const defaultLimits = {
  /** Rows of the log, of all workspaces: up to about 30 MB. */
  ofWorkspaces: 50_000,
  /** Rows without a workspace. They never take the places of a workspace's. */
  unauthenticated: 2_000,
  /** Requests with an invalid key whose hint is looked up with the next batch, shared fairly by clients. */
  invalidKeys: 2_000,
  contentsBytes: 16 * 1024 * 1024,
}

export interface RecordedKeys {
  /** Whether a request with this error code is a use of its key. */
  isUse(code: string | null): boolean
  saveUses(db: Db, uses: readonly KeyUse[]): Promise<unknown>
  withHints(db: Db, hints: readonly string[]): Promise<{ hint: string; keyId: string; workspaceId: string }[]>
}

/** How many requests with an invalid key that resembles one of its keys a workspace gets per minute and process. */
export const invalidKeysPerMinute = 60

/**
 * Records requests: their rows in the log, error responses and bodies, the hourly counts, the last use of keys, and the counts of
 * requests without a workspace. All of it is written in one transaction per batch, about a quarter of a second late.
 *
 * The buffer is bounded: if the database is slower than the requests, or down, each workspace may fill its share of the rows.
 * Further rows of that workspace are dropped and their number is logged, as are those of a batch that the database rejects. The
 * counts of successful requests and the last use of keys stay exact.
 */
export class RequestRecorder {
  readonly #db: Db
  readonly #log: Logger
  readonly #keys: RecordedKeys
  readonly #timer: NodeJS.Timeout
  readonly #writer = new BatchWriter()
  readonly #limits: typeof defaultLimits
  /** Oldest first. */
  readonly #batches: RecordedBatch[] = []
  readonly #ofWorkspaces: FairShares
  #unauthenticated = 0
  #contentsBytes = 0
  readonly #unauthenticatedLimits = new UnauthenticatedLimits()
  /** Apart, so that requests with invalid keys do not keep rejected webhooks out of the log. */
  readonly #webhookLimits = new UnauthenticatedLimits()
  #invalidKeys: RequestRecord[] = []
  #invalidKeyPlaces: FairShares
  readonly #invalidKeysPerMinute = new CountedWindows({
    max: invalidKeysPerMinute,
    windowMs: 60_000,
    maxKeys: 20_000,
  })
  #lost = 0
  #lostContents = 0
  readonly #counts = new KeyCounts()
  #countedMs = -countsEveryMs
  #isStopping = false
  /** The last write failed: batches wait for the timer. */
  #isFailing = false
  #writing: Promise<void> | undefined

  constructor(db: Db, log: Logger, keys: RecordedKeys, limits: Partial<typeof defaultLimits> = {}) {
    this.#db = db
    this.#log = log
    this.#keys = keys
    this.#limits = { ...defaultLimits, ...limits }
    this.#ofWorkspaces = new FairShares(this.#limits.ofWorkspaces)
    this.#invalidKeyPlaces = new FairShares(this.#limits.invalidKeys)
    this.#timer = setInterval(() => this.#writing || void this.flush(), flushMs).unref()
  }

  get waiting(): number {
    return this.#ofWorkspaces.taken + this.#unauthenticated
  }

  record(record: RequestRecord): void {
    if (record.caller) this.#add(record)
    else if (this.#mayResembleKey(record)) this.#invalidKeys.push(record)
    else this.#addUnauthenticated(record)
    if (this.waiting >= flushAt && !this.#isFailing && !this.#writing) void this.flush()
  }

  /** Writes everything that waits now. Resolves when it is written, or when the database failed; then it stays. */
  flush(): Promise<void> {
    if (this.#writing) return this.#writing.then(() => this.flush())
    if (this.#batches.length + this.#invalidKeys.length > 0 || this.#areCountsDue) {
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined
      })
    }
    return this.#writing ?? Promise.resolve()
  }

  /** Writes the rest, so that the log is complete after a clean stop. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#isStopping = true
    await this.#writing
    for (let attempt = 0; attempt < stopAttempts; attempt++) await this.flush()
    if (this.waiting > 0) this.#reportLost(this.waiting)
  }

  #mayResembleKey({ code, keyHint, address }: RequestRecord): boolean {
    return code === 'invalid_key' && Boolean(keyHint) && this.#invalidKeyPlaces.take(addressBlock(address))
  }

  #add(record: RequestRecord): void {
    this.#counts.add(record, this.#keys.isUse(record.code))
    this.#addRow(this.#batchFor(record.at), record)
  }

  #addUnauthenticated(record: RequestRecord): void {
    const batch = this.#batchFor(record.at)
    const limits = record.code === invalidSignature ? this.#webhookLimits : this.#unauthenticatedLimits
    const { client, isLogged } = limits.take(record)
    batch.countUnauthenticated(record, client, isLogged)
    this.#counts.add(record, false)
    this.#db.telemetry.metrics.add('unauthenticated requests', isLogged ? 'request' : 'count')
    if (isLogged) this.#addRow(batch, record)
  }

  #addRow(batch: RecordedBatch, record: RequestRecord): void {
    const workspaceId = record.caller?.workspaceId ?? null
    if (!this.#takePlace(workspaceId)) {
      this.#lost++
      this.#db.telemetry.metrics.add('requests not logged', 'too many waiting')
      return
    }
    try {
      batch.add(record)
    } catch (error) {
      this.#releasePlaces(workspaceId, 1)
      this.#db.telemetry.metrics.add('requests not logged', 'rejected')
      const fields = { event: 'request_log.entry_failed', err: error, request_id: record.id } as const
      this.#log.error(fields, 'a request was not logged')
      return
    }
    if (!record.contents) return
    if (this.#contentsBytes >= this.#limits.contentsBytes) {
      this.#lostContents++
      return
    }
    const before = batch.contentsBytes
    batch.addContents(record)
    this.#contentsBytes += batch.contentsBytes - before
  }

  #batchFor(at: Date): RecordedBatch {
    const day = dayOf(at)
    const last = this.#batches.at(-1)
    if (last && last.day === day && last.isOpen) return last
    const batch = new RecordedBatch(day)
    this.#batches.push(batch)
    return batch
  }

  async #write(): Promise<void> {
    await this.#matchKeys()
    if (this.#areCountsDue) this.#batchFor(this.#counts.lastAt)
    // Requests that arrive during the write wait for the next one. Otherwise this would never end under load.
    for (let left = this.#batches.length; left > 0; left--) {
      const batch = this.#batches[0] as RecordedBatch
      if (batch.id === null) this.#close(batch)
      try {
        await writeBatch(this.#db, batch, this.#keys.saveUses)
        this.#isFailing = false
        this.#notice(batch)
      } catch (error) {
        if (!isDataError(error)) {
          const fields = { event: 'request_log.write_failed', err: error } as const
          if (!this.#isFailing) this.#log.warn(fields, 'writing the request log failed; retrying')
          this.#isFailing = true
          return
        }
        this.#db.telemetry.metrics.add('requests not logged', 'rejected', batch.size)
        const fields = { event: 'request_log.entries_lost', err: error, requests: batch.size } as const
        const what = batch.size > 0 ? 'requests were not logged' : 'requests were not counted'
        this.#log.error(fields, `${what}: the database rejected them`)
        if (this.#keepCounts(batch)) left++
      }
      this.#batches.shift()
      this.#contentsBytes -= batch.contentsBytes
      for (const [workspaceId, count] of batch.rowsByWorkspace) this.#releasePlaces(workspaceId, count)
    }
    this.#reportDropped()
  }

  get #areCountsDue(): boolean {
    const isDue = this.#isStopping || performance.now() - this.#countedMs >= countsEveryMs
    return isDue && !this.#counts.isEmpty
  }

  #close(batch: RecordedBatch): void {
    batch.id = this.#writer.next()
    if (!this.#areCountsDue) return
    batch.counts = this.#counts.take()
    this.#countedMs = performance.now()
  }

  /** Puts the counts of a rejected batch into one of their own, which is written next. If that is rejected too, they are lost. */
  #keepCounts({ day, counts, size, unauthenticated }: RecordedBatch): boolean {
    if (size + unauthenticated.length === 0 || counts.traffic.length + counts.uses.length === 0) return false
    const kept = new RecordedBatch(day)
    kept.id = this.#writer.next()
    kept.counts = counts
    this.#batches.splice(1, 0, kept)
    return true
  }

  /**
   * A request with an invalid key belongs to the workspace of the key with the same hint, so that its API errors show it. This
   * happens after the response, so no response, nor its time, depends on it. Anyone can send invalid keys, so a workspace gets
   * only some.
   */
  async #matchKeys(): Promise<void> {
    const records = this.#invalidKeys
    if (records.length === 0) return
    this.#invalidKeys = []
    this.#invalidKeyPlaces = new FairShares(this.#limits.invalidKeys)
    const hints = [...new Set(records.flatMap(({ keyHint }) => keyHint ?? []))]
    // If the database is down, writing reports it.
    const keys = await this.#keys.withHints(this.#db, hints).catch(() => [])
    const byHint = new Map(keys.map((key) => [key.hint, key]))
    const limit = this.#invalidKeysPerMinute
    for (const record of records) {
      const caller = byHint.get(record.keyHint ?? '')
      if (caller && !limit.count(caller.workspaceId, record.at).isFull) this.#add({ ...record, caller })
      else this.#addUnauthenticated(record)
    }
  }

  #takePlace(workspaceId: string | null): boolean {
    if (workspaceId !== null) return this.#ofWorkspaces.take(workspaceId)
    if (this.#unauthenticated >= this.#limits.unauthenticated) return false
    this.#unauthenticated++
    return true
  }

  #releasePlaces(workspaceId: string | null, count: number): void {
    if (workspaceId === null) this.#unauthenticated -= count
    else this.#ofWorkspaces.release(workspaceId, count)
  }

  #notice(batch: RecordedBatch): void {
    for (const workspaceId of batch.rowsByWorkspace.keys()) {
      if (workspaceId !== null) this.#db.notify(workspaceId, 'requests')
    }
    const used = new Set(batch.counts.uses.map(({ workspaceId }) => workspaceId))
    for (const workspaceId of used) this.#db.notify(workspaceId, 'keys')
  }

  #reportDropped(): void {
    if (this.#lost > 0) this.#reportLost(this.#lost)
    this.#lost = 0
    if (this.#lostContents === 0) return
    const fields = { event: 'request_contents.lost', requests: this.#lostContents } as const
    this.#log.error(fields, 'contents of requests were not stored: too much waited for the database')
    this.#lostContents = 0
  }

  #reportLost(requests: number): void {
    const fields = { event: 'request_log.entries_lost', requests } as const
    this.#log.error(fields, 'requests were not logged: too many waited for the database')
  }
}

/**
 * Errors caused by the data, which a retry would not fix: SQLSTATE classes 21 to 23. Except 23514: another process created
 * the partition between our check and our write. And 23503: a key was deleted.
 */
function isDataError(error: unknown): boolean {
  return /^2[123](?!514|503)...$/.test((error as { code?: string }).code ?? '')
}
