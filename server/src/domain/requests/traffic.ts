import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/access-check.ts'
import type { Logger } from '../../lib/logger.ts'
import { CountBatches } from './count-batches.ts'
import { addTraffic, type TrafficRow } from './traffic.sql.ts'

const hourMs = 3_600_000
const flushMs = 500
/** Minimum interval between two writes of a busy key. The first count after a pause is written without delay. */
const minIntervalMs = 5_000

interface Counted extends TrafficRow {
  writtenMs: number
}

type Counts = Map<string | null, Counted>

/**
 * Successful requests by key and hour, for charts: counted in memory and added to the database every few seconds. Errors are
 * counted together with the log. A process that is killed loses up to five seconds of these counts; the log is not affected.
 */
export class Traffic {
  readonly #batches: CountBatches<TrafficRow>
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  /** By hour since 1970, then by key. */
  readonly #hours = new Map<number, Counts>()
  #hour = 0
  #currentCounts: Counts = new Map()
  #writing: Promise<void> = Promise.resolve()

  constructor(db: Db, log: Logger) {
    this.#batches = new CountBatches((id, rows) => addTraffic(db, id, rows))
    this.#log = log
    this.#timer = setInterval(() => void this.#flush(false), flushMs)
    this.#timer.unref()
  }

  record({ caller, code, at }: RequestRecord): void {
    if (code !== null) return
    const hour = Math.floor(at.getTime() / hourMs)
    if (hour !== this.#hour) this.#switchToHour(hour)
    const keyId = caller?.keyId ?? null
    const counted = this.#currentCounts.get(keyId)
    if (counted) counted.count++
    else {
      const workspaceId = caller?.workspaceId ?? null
      this.#currentCounts.set(keyId, {
        hour: new Date(hour * hourMs),
        workspaceId,
        keyId,
        count: 1,
        writtenMs: -minIntervalMs,
      })
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flush(true)
  }

  #switchToHour(hour: number): void {
    this.#hour = hour
    this.#currentCounts = this.#hours.get(hour) ?? new Map()
    this.#hours.set(hour, this.#currentCounts)
  }

  #flush(all: boolean): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write(all))
    return this.#writing
  }

  async #write(all: boolean): Promise<void> {
    try {
      await this.#batches.write(() => this.#takeDue(all))
    } catch (error) {
      const fields = { event: 'traffic.write_failed', err: error } as const
      this.#log.warn(fields, 'writing request counts failed; retrying')
    }
  }

  #takeDue(all: boolean): TrafficRow[] {
    const nowMs = performance.now()
    const due: Counted[] = []
    for (const [hour, counts] of this.#hours) {
      for (const [keyId, counted] of counts) {
        const isDue = nowMs - counted.writtenMs >= minIntervalMs
        if (counted.count > 0 && (all || isDue)) due.push(counted)
        else if (isDue) counts.delete(keyId)
      }
      if (counts.size === 0 && hour !== this.#hour) this.#hours.delete(hour)
    }
    const rows = due.map((counted) => ({ ...counted }))
    for (const counted of due) {
      counted.count = 0
      counted.writtenMs = nowMs
    }
    return rows
  }
}
