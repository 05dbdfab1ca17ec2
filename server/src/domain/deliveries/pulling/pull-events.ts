import { defaultEventLimit, type EventQuery } from '@parley/contract/pulled-events'
import type { Db } from '../../../db/db.ts'
import type { OnChange } from '../../../db/notices/change-notices.ts'
import type { Clock } from '../../../lib/clock.ts'
import { refuse } from '../../../lib/refuse.ts'
import type { SecretKeys } from '../../../lib/seal.ts'
import { type Cursor, type Cursors, newCursors, oldestCursor } from './cursor.ts'
import { type PageInput, type PageRead, type PageRow, readNewest, readPage } from './pulling.sql.ts'
import { WaitingReaders } from './waiting-readers.ts'

/** A page of events. Their bodies are the bytes that webhooks deliver. */
export interface PulledPage {
  bodies: readonly Buffer[]
  hasMore: boolean
  nextCursor: string
}

/** What the readers of a process share. */
export interface Pulling {
  cursors: Cursors
  readers: WaitingReaders
  reads: SharedReads<PageRead>
}

interface PullingDeps {
  db: Db
  secretKeys: SecretKeys
  /** The readers subscribe to it. */
  changes: Set<OnChange>
}

export const newPulling = ({ db, secretKeys, changes }: PullingDeps): Pulling => ({
  cursors: newCursors(secretKeys),
  readers: new WaitingReaders(db, changes),
  reads: new SharedReads(),
})

export interface PullDeps {
  /** Limited to the workspace. */
  db: Db
  clock: Clock
  workspaceId: string
  pulling: Pulling
  /**
   * Waits for up to `ms`, until `subscribe` calls back. `ended` if there is no one left to respond to, or the process stops.
   */
  hold(ms: number, subscribe: (wake: () => void) => () => void): Promise<'woken' | 'over' | 'ended'>
}

/** A page has at most about this many bytes. A response is in memory until it is sent. */
const maxPageBytes = 4_000_000

/** How many events one statement looks at for a filter, and how many statements one request may run: about a second of work. */
const scanLimit = 5_000
const maxScans = 10

/** How much later than its time an event may be committed without being missed at the end of the retention period. */
const latenessMs = 60_000

/** `GET /v1/events`. With `wait`, an empty page waits for an event. */
export async function pullEvents(deps: PullDeps, query: EventQuery): Promise<PulledPage> {
  const { pulling, workspaceId, hold } = deps
  const { wait = 0, limit = defaultEventLimit, type: types = null } = query
  const endMs = performance.now() + wait * 1000
  const input = { workspaceId, types, limit, scanLimit: types === null ? limit + 1 : scanLimit, maxBytes: maxPageBytes }
  const reader = wait > 0 ? pulling.readers.enter(workspaceId, types) : null
  try {
    reader?.look()
    let page = await readFrom(deps, input, await resolve(deps, query.after))
    let isOver = false
    while (reader && isEmpty(page) && !isOver) {
      reader.foundNothing(page.cursor.position, page.isHeld)
      // Even if it is woken again and again for events of other types.
      if (!reader.isWoken || performance.now() >= endMs) {
        const how = await hold(Math.max(0, endMs - performance.now()), (wake) => reader.onWake(wake))
        if (how === 'ended') break
        // A process that died may have published without a notice, so it looks once more at the end.
        isOver = how === 'over'
      }
      reader.look()
      page = await readFrom(deps, input, page.cursor)
    }
    const nextCursor = pulling.cursors.write(workspaceId, page.cursor)
    return { bodies: page.rows.map(({ body }) => body), hasMore: page.hasMore, nextCursor }
  } finally {
    reader?.leave()
  }
}

interface ReadPage {
  rows: readonly PageRow[]
  /** Where it has ended. */
  cursor: Cursor
  hasMore: boolean
  /** Whether there are events that cannot be read yet, because an older transaction is open. */
  isHeld: boolean
}

const isEmpty = ({ rows, hasMore }: ReadPage): boolean => rows.length === 0 && !hasMore

/** Comes after all events of a position. */
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The start of a request: its cursor, the oldest event, or now. */
async function resolve({ db, clock, workspaceId, pulling }: PullDeps, after: string | undefined): Promise<Cursor> {
  if (after === undefined) return oldestCursor
  if (after !== 'latest') return pulling.cursors.read(workspaceId, after)
  const unreadFrom = unreadSince(clock.now())
  return { position: await readNewest(db, workspaceId), id: lastId, unreadFrom }
}

/** Reads from a cursor until the page has events, there are none left, or the scan takes too long. */
async function readFrom(deps: PullDeps, input: PageInput, start: Cursor): Promise<ReadPage> {
  // A page without `after` is not checked: it begins with what there is.
  const isChecked = start.unreadFrom.getTime() > 0
  let from = start
  for (let scans = 1; ; scans++) {
    // After a page of events that are only returned if they are asked for, it looks further at once.
    const page = await readOnce(deps, scans === 1 ? input : { ...input, scanLimit }, from, isChecked)
    if (page.rows.length > 0 || !page.hasMore || scans === maxScans) return page
    from = page.cursor
  }
}

async function readOnce(deps: PullDeps, input: PageInput, from: Cursor, isChecked: boolean): Promise<ReadPage> {
  const { db, clock, pulling } = deps
  const now = clock.now()
  const sharedBy = [input.workspaceId, from.position, from.id, input.limit, input.scanLimit, input.types].join(' ')
  const { facts, rows } = await pulling.reads.read(sharedBy, () => readPage(db, input, from))
  // A cursor in a transaction that has not begun is of a time that this server does not know: it was restored from a copy of
  // its files, which shows in no other way.
  const isUnknown = from.position >= BigInt(facts.nextPosition)
  const keptFrom = dayOf(facts.oldest)
  const isDeleted = isChecked && keptFrom !== null && from.unreadFrom < keptFrom
  if (isUnknown || isDeleted) return expired(deps)
  const page = afterRead(input, from, { facts, rows }, now)
  if (keptFrom !== null && page.cursor.unreadFrom < keptFrom) page.cursor.unreadFrom = keptFrom
  return page
}

/**
 * Where a read has ended. It does not go beyond the last event: after a crash PostgreSQL may use the IDs of transactions again
 * that came later and left no trace.
 */
function afterRead(input: PageInput, from: Cursor, { facts, rows }: PageRead, now: Date): ReadPage {
  const isCut = facts.matches > rows.length
  const last = isCut ? rows.at(-1) : facts.last
  const hasMore = last != null && (isCut || facts.scanned === input.scanLimit)
  const unreadFrom = unreadSince(new Date(hasMore ? last.createdAt : (facts.heldFrom ?? now)))
  const cursor = last ? { position: BigInt(last.position), id: last.id, unreadFrom } : { ...from, unreadFrom }
  return { rows, cursor, hasMore, isHeld: facts.heldFrom !== null }
}

const unreadSince = (at: Date): Date => new Date(Math.max(0, at.getTime() - latenessMs))

/** The day of a partition: `events_20261116`. */
function dayOf(partition: string | null): Date | null {
  const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(partition ?? '') ?? []
  return year === undefined ? null : new Date(`${year}-${month}-${day}T00:00:00Z`)
}

function expired({ pulling, clock, workspaceId }: PullDeps): never {
  // It expires too if it is used when more events were deleted.
  const oldest = { ...oldestCursor, unreadFrom: clock.now() }
  refuse('cursor_expired', { details: { oldest_cursor: pulling.cursors.write(workspaceId, oldest) } })
}

/**
 * Reads that begin together and ask for the same share one statement. When an event wakes a thousand readers that are at the
 * same position, that is one statement instead of a thousand. A read never joins a statement that has begun: it might miss
 * an event.
 */
class SharedReads<Result> {
  readonly #next = new Map<string, Promise<Result>>()

  read(name: string, run: () => Promise<Result>): Promise<Result> {
    const joined = this.#next.get(name)
    if (joined) return joined
    const started = new Promise<Result>((resolve, reject) => {
      setImmediate(() => {
        this.#next.delete(name)
        run().then(resolve, reject)
      })
    })
    this.#next.set(name, started)
    return started
  }
}
