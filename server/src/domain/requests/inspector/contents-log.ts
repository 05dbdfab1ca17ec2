import { CopyRows } from '../../../db/copy-format.ts'
import type { Db } from '../../../db/db.ts'
import type { RequestRecord, StoredText } from '../../../lib/access-check.ts'
import type { Logger } from '../../../lib/logger.ts'
import { dayOf } from '../log-batch.ts'
import { isDataError } from '../request-log.ts'
import { bodyColumns, type ContentsTable, copyContents, errorColumns } from './contents.sql.ts'

/** What waits for the database, in bytes. While it is down for longer, further contents are dropped. */
const maxWaitingBytes = 16 * 1024 * 1024
/** A statement of this size takes about 20 ms. */
const maxBatchBytes = 1024 * 1024

/** Rows of one table and day, already in the format of COPY, as in the request log. */
interface Batch {
  table: ContentsTable
  day: number
  rows: CopyRows
}

/**
 * Writes bodies and error responses in batches. `RequestLog` calls `flush` before it writes the requests, so that a request in the
 * log has its contents. Rows may be written twice if a connection breaks; readers take one of them.
 */
export class ContentsLog {
  readonly #db: Db
  readonly #log: Logger
  readonly #maxBytes: number
  #batches: Batch[] = []
  #lost = 0
  #isFailing = false
  #writing: Promise<void> | undefined

  constructor(db: Db, log: Logger, maxBytes: number = maxWaitingBytes) {
    this.#db = db
    this.#log = log
    this.#maxBytes = maxBytes
  }

  get waitingBytes(): number {
    return this.#batches.reduce((sum, { rows }) => sum + rows.size, 0)
  }

  record({ id, at, caller, contents }: RequestRecord): void {
    if (!contents || !caller) return
    if (this.waitingBytes >= this.#maxBytes) {
      this.#lost++
      return
    }
    const { target, error, bodies } = contents
    if (error) {
      const row = this.#rowOf('request_errors', at, id, caller.workspaceId)
      row.text(target).text(error.text).text(error.state)
    }
    if (bodies) {
      const row = this.#rowOf('request_bodies', at, id, caller.workspaceId).text(target)
      addText(addText(row, bodies.request), bodies.response)
    }
  }

  /** Writes what waits. Never rejects: if the database fails, it stays for the next time. */
  flush(): Promise<void> {
    if (!this.#writing && this.#batches.length > 0) {
      this.#writing = this.#write().finally(() => {
        this.#writing = undefined
      })
    }
    return this.#writing ?? Promise.resolve()
  }

  async #write(): Promise<void> {
    for (let batch = this.#batches.shift(); batch; batch = this.#batches.shift()) {
      try {
        await copyContents(this.#db, batch.table, batch.day, batch.rows.finish())
        this.#isFailing = false
      } catch (error) {
        if (isDataError(error)) {
          this.#log.error({ event: 'request_contents.failed', err: error }, 'contents of requests were not stored')
          continue
        }
        this.#batches.unshift(batch)
        const fields = { event: 'request_contents.write_failed', err: error } as const
        if (!this.#isFailing) this.#log.warn(fields, 'storing the contents of requests failed; retrying')
        this.#isFailing = true
        return
      }
    }
    if (this.#lost === 0) return
    const fields = { event: 'request_contents.lost', requests: this.#lost } as const
    this.#log.error(fields, 'contents of requests were not stored: too much waited for the database')
    this.#lost = 0
  }

  #rowOf(table: ContentsTable, at: Date, id: string, workspaceId: string): CopyRows {
    return this.#batchOf(table, dayOf(at)).rows.row().timestamp(at).uuid(id).uuid(workspaceId)
  }

  #batchOf(table: ContentsTable, day: number): Batch {
    const last = this.#batches.findLast((batch) => batch.table === table && batch.day === day)
    if (last && last.rows.size < maxBatchBytes) return last
    const columns = table === 'request_errors' ? errorColumns : bodyColumns
    const batch = { table, day, rows: new CopyRows(columns.length, 4 * 1024) }
    this.#batches.push(batch)
    return batch
  }
}

const addText = (row: CopyRows, stored: StoredText | null): CopyRows =>
  row.text(stored?.text ?? null).text(stored?.state ?? null)
