import { CopyRows } from '../../db/copy-format.ts'
import type { RequestRecord } from '../../lib/access-check.ts'

export const logColumns = [
  'at',
  'id',
  'workspace_id',
  'key_id',
  'method',
  'route',
  'status',
  'code',
  'duration_us',
  'address',
  'user_agent',
]

const dayMs = 86_400_000

export const dayOf = (at: Date): number => Math.floor(at.getTime() / dayMs)

/**
 * Requests of one day on their way into the log, as the bytes that COPY takes. Nothing else is kept of one that went
 * well: objects that wait for the next batch would be what the collector of garbage is busy with.
 */
export class LogBatch {
  readonly day: number
  readonly #rows = new CopyRows(logColumns.length, 16 * 1024)
  /** Where each row begins. */
  readonly #starts: number[] = []
  /** By number of row. */
  readonly #refused = new Map<number, RequestRecord>()
  readonly #workspaces = new Set<string>()

  constructor(day: number) {
    this.day = day
  }

  get size(): number {
    return this.#starts.length
  }

  get bytes(): Buffer {
    return this.#rows.finish()
  }

  get refused(): RequestRecord[] {
    return [...this.#refused.values()]
  }

  get workspaces(): Iterable<string> {
    return this.#workspaces
  }

  /** Throws if the record cannot be written as a row; then it is as if it had not been. */
  add(record: RequestRecord): void {
    const start = this.#rows.size
    const { caller } = record
    try {
      this.#rows
        .row()
        .timestamp(record.at)
        .uuid(record.id)
        .uuid(caller?.workspaceId ?? null)
        .uuid(caller?.keyId ?? null)
        .text(record.method)
        .text(record.route)
        .int2(record.status)
        .text(record.code)
        .int4(record.durationUs)
        .text(record.address)
        .text(record.userAgent)
    } catch (error) {
      this.#rows.cut(start)
      throw error
    }
    if (record.code !== null) this.#refused.set(this.#starts.length, record)
    if (caller) this.#workspaces.add(caller.workspaceId)
    this.#starts.push(start)
  }

  idOf(index: number): string {
    return this.#rows.uuidAt((this.#starts[index] as number) + idOffset)
  }

  halves(): [LogBatch, LogBatch] {
    const middle = this.size >> 1
    return [this.only((index) => index < middle), this.only((index) => index >= middle)]
  }

  /** A batch of those rows alone that are wanted. */
  only(isWanted: (index: number) => boolean): LogBatch {
    const part = new LogBatch(this.day)
    for (let index = 0; index < this.size; index++) {
      if (!isWanted(index)) continue
      const refused = this.#refused.get(index)
      if (refused) part.#refused.set(part.size, refused)
      part.#starts.push(part.#rows.size)
      part.#rows.append(this.#rows, this.#starts[index] as number, this.#starts[index + 1] ?? this.#rows.size)
    }
    for (const workspaceId of this.#workspaces) part.#workspaces.add(workspaceId)
    return part
  }
}

/** Behind the number of columns and the time. */
const idOffset = 2 + 12
