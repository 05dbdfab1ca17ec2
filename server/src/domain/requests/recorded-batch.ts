import type { BatchId } from '../../db/batch-writer.ts'
import { CopyRows } from '../../db/format/copy-format.ts'
import type { RequestRecord, StoredText } from '../../http/access-check.ts'
import type { KeyCounts } from './key-counts.ts'
import { withoutSecrets } from './secrets.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
const maxRows = 4000
/** A statement of this size takes about 20 ms. */
const maxContentsBytes = 1024 * 1024
/** Rows of unauthenticated requests. While the database is down for longer, all other clients share one count per error and minute. */
const maxUnauthenticated = 2500

export const dayOf = (at: Date): number => Math.floor(at.getTime() / dayMs)

export interface ErrorRow {
  at: Date
  workspaceId: string
  keyId: string
  code: string
  address: string
}

export interface UnauthenticatedRow {
  minute: Date
  code: string | null
  /** Null for clients that are not counted separately. */
  client: string | null
  count: number
  logged: number
  firstAt: Date
  lastAt: Date
}

/**
 * Everything to write about requests that began on one day. A request in the log is kept only as a row in the format of COPY:
 * objects that live until the next batch would make garbage collection expensive.
 */
export class RecordedBatch {
  readonly day: number
  /** Set before it is first written. Nothing is added afterwards: it may have been committed although we got an error. */
  id: BatchId | null = null
  readonly log = new CopyRows(11, 16 * 1024)
  readonly errorContents = new CopyRows(6, 1024)
  readonly bodyContents = new CopyRows(8, 1024)
  size = 0
  contentsBytes = 0
  /** How many rows of the log each workspace has. The key null is for those without one. */
  readonly rowsByWorkspace = new Map<string | null, number>()
  readonly errors: ErrorRow[] = []
  /** Of several batches, and of other days too. */
  counts: ReturnType<KeyCounts['take']> = { traffic: [], uses: [] }
  readonly #unauthenticated = new Map<string, UnauthenticatedRow>()

  constructor(day: number) {
    this.day = day
  }

  get isOpen(): boolean {
    return this.id === null && this.size < maxRows && this.contentsBytes < maxContentsBytes
  }

  get unauthenticated(): UnauthenticatedRow[] {
    return [...this.#unauthenticated.values()]
  }

  countUnauthenticated({ at, code }: RequestRecord, client: string | null, isLogged: boolean): void {
    const minute = Math.floor(at.getTime() / minuteMs)
    let row = this.#unauthenticated.get(`${minute} ${code} ${client}`)
    if (!row) {
      const isSeparate = this.#unauthenticated.size < maxUnauthenticated
      const key = isSeparate ? `${minute} ${code} ${client}` : `${minute} ${code} null`
      row = this.#unauthenticated.get(key) ?? {
        ...{ minute: new Date(minute * minuteMs), code, client: isSeparate ? client : null },
        ...{ count: 0, logged: 0, firstAt: at, lastAt: at },
      }
      this.#unauthenticated.set(key, row)
    }
    row.count++
    if (isLogged) row.logged++
    if (at < row.firstAt) row.firstAt = at
    if (at > row.lastAt) row.lastAt = at
  }

  /** Adds a request to the log. Throws if it cannot be encoded; the batch is then unchanged. */
  add(record: RequestRecord): void {
    const { caller, code, at, address } = record
    const start = this.log.size
    try {
      this.log
        .row()
        .timestamp(at)
        .uuid(record.id)
        .uuid(caller?.workspaceId ?? null)
        .uuid(caller?.keyId ?? null)
        .text(record.method)
        .text(withoutSecrets(record.route))
        .int2(record.status)
        .text(code)
        .int4(Math.min(record.durationUs, maxDurationUs))
        .text(address)
        .text(record.userAgent === null ? null : withoutSecrets(record.userAgent))
    } catch (error) {
      this.log.cut(start)
      throw error
    }
    const workspaceId = caller?.workspaceId ?? null
    this.rowsByWorkspace.set(workspaceId, (this.rowsByWorkspace.get(workspaceId) ?? 0) + 1)
    this.size++
    if (code !== null && caller) {
      this.errors.push({ at, workspaceId: caller.workspaceId, keyId: caller.keyId, code, address })
    }
  }

  addContents({ id, at, caller, contents }: RequestRecord): void {
    if (!contents || !caller) return
    const { target, error, bodies } = contents
    const begin = (rows: CopyRows) => rows.row().timestamp(at).uuid(id).uuid(caller.workspaceId).text(target)
    const before = this.errorContents.size + this.bodyContents.size
    if (error) addText(begin(this.errorContents), error)
    if (bodies) addText(addText(begin(this.bodyContents), bodies.request), bodies.response)
    this.contentsBytes += this.errorContents.size + this.bodyContents.size - before
  }
}

const addText = (row: CopyRows, stored: StoredText | null): CopyRows =>
  row.text(stored?.text ?? null).text(stored?.state ?? null)

const maxDurationUs = 2 ** 31 - 1
