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
 * Requests of one day that wait to be logged, already in the binary format of COPY. A successful request is kept only as
 * bytes: objects that live until the next batch would make garbage collection expensive.
 */
export class LogBatch {
  readonly day: number
  readonly #rows = new CopyRows(logColumns.length, 16 * 1024)
  /** Byte offset of each row. */
  readonly #starts: number[] = []
  /** The workspace of each row; null if it has none. */
  readonly #workspaceIds: (string | null)[] = []
  /** Requests of workspaces with an error, by row number. */
  readonly #failed = new Map<number, RequestRecord>()

  constructor(day: number) {
    this.day = day
  }

  get size(): number {
    return this.#starts.length
  }

  get bytes(): Buffer {
    return this.#rows.finish()
  }

  get failed(): RequestRecord[] {
    return [...this.#failed.values()]
  }

  /** How many rows each workspace has. The key null is for those without one. */
  countByWorkspace(): Map<string | null, number> {
    const counts = new Map<string | null, number>()
    for (const id of this.#workspaceIds) counts.set(id, (counts.get(id) ?? 0) + 1)
    return counts
  }

  /** Throws if the record cannot be encoded; the batch is then unchanged. */
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
    if (record.code !== null && caller) this.#failed.set(this.#starts.length, record)
    this.#workspaceIds.push(caller?.workspaceId ?? null)
    this.#starts.push(start)
  }

  idOf(index: number): string {
    return this.#rows.uuidAt((this.#starts[index] as number) + idOffset)
  }

  halves(): [LogBatch, LogBatch] {
    const middle = this.size >> 1
    return [this.filter((index) => index < middle), this.filter((index) => index >= middle)]
  }

  /** A batch of the rows for which `isIncluded` is true. */
  filter(isIncluded: (index: number) => boolean): LogBatch {
    const part = new LogBatch(this.day)
    for (let index = 0; index < this.size; index++) {
      if (!isIncluded(index)) continue
      const failed = this.#failed.get(index)
      if (failed) part.#failed.set(part.size, failed)
      part.#workspaceIds.push(this.#workspaceIds[index] ?? null)
      part.#starts.push(part.#rows.size)
      part.#rows.append(this.#rows, this.#starts[index] as number, this.#starts[index + 1] ?? this.#rows.size)
    }
    return part
  }
}

/** The ID follows the number of columns (2 bytes) and the time (12 bytes). */
const idOffset = 2 + 12
