import { defaultEventLimit, type EventQuery } from '@parley/contract/pulled-events'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { refuse } from '../../../lib/refuse.ts'
import type { SecretKeys } from '../../../lib/seal.ts'
import { type Cursor, type Cursors, newCursors } from './cursor.ts'
import type { HistoryRow } from './history.sql.ts'
import { Histories, isServerOf, placeIn, type Server, startOf } from './history.ts'
import { endOfTransaction, isOld, liveStart, oldStart, type Place } from './position.ts'
import { type PageInput, type PageRead, type PageRow, readLive, readNewest, readOld } from './pulling.sql.ts'
import { SharedReads } from './shared-reads.ts'
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
  histories: Histories
  readers: WaitingReaders
  reads: SharedReads<PageRead>
}

export const newPulling = ({ db, secretKeys }: { db: Db; secretKeys: SecretKeys }): Pulling => ({
  cursors: newCursors(secretKeys),
  histories: new Histories(db),
  readers: new WaitingReaders(db),
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
      reader.foundNothing(page.place.transactionId, page.isHeld)
      // Also if it is woken again and again for events of other types.
      if (!reader.isWoken || performance.now() >= endMs) {
        const how = await hold(Math.max(0, endMs - performance.now()), (wake) => reader.onWake(wake))
        if (how === 'ended') break
        // A process that died may have published without a notice, so it looks once more at the end.
        isOver = how === 'over'
      }
      reader.look()
      page = await readFrom(deps, input, page)
    }
    const { history, unreadFrom, place } = page
    const nextCursor = pulling.cursors.write(workspaceId, { history: history.id, unreadFrom, place })
    return { bodies: page.rows.map(({ body }) => body), hasMore: page.hasMore, nextCursor }
  } finally {
    reader?.leave()
  }
}

/** Where a reader is, in the history of the server that said so. */
interface Start {
  history: HistoryRow
  /** Of the last event that was read. */
  place: Place
  unreadFrom: Date
}

interface ReadPage extends Start {
  rows: readonly PageRow[]
  hasMore: boolean
  /** Whether there are events that cannot be read yet, because an older transaction is open. */
  isHeld: boolean
}

const isEmpty = ({ rows, hasMore }: ReadPage): boolean => rows.length === 0 && !hasMore

/** The start of a request: its cursor, the oldest event, or now. */
async function resolve(deps: PullDeps, after: string | undefined): Promise<Start> {
  const { db, workspaceId, pulling } = deps
  if (after === 'latest') {
    return onCurrentServer(deps, async (history) => {
      const newest = await readNewest(db, workspaceId)
      const place = newest.transactionId === null ? liveStart : endOfTransaction(BigInt(newest.transactionId))
      return { server: newest, result: { history, place, unreadFrom: unreadSince(deps.clock.now()) } }
    })
  }
  if (after === undefined) {
    const history = lastOf(await pulling.histories.all())
    return { history, place: startOf(history), unreadFrom: new Date(0) }
  }
  const cursor = pulling.cursors.read(workspaceId, after)
  return (await startAt(pulling.histories, cursor)) ?? expired(deps)
}

/** Null if the cursor belongs to another history. This process may not know the latest ones. */
async function startAt(histories: Histories, cursor: Cursor): Promise<Start | null> {
  let known = await histories.all()
  if (known.every(({ id }) => id !== cursor.history)) {
    histories.forget()
    known = await histories.all()
  }
  const place = placeIn(known, cursor)
  return place && { history: lastOf(known), place, unreadFrom: cursor.unreadFrom }
}

/** Reads from a start until the page has events, there are none left, or the scan takes too long. */
async function readFrom(deps: PullDeps, input: PageInput, start: Start): Promise<ReadPage> {
  // A page without `after` is not checked: it begins with what there is.
  const isChecked = start.unreadFrom.getTime() > 0
  let from = start
  for (let scans = 1; ; scans++) {
    const page = await readOnce(deps, input, from, isChecked)
    if (page.rows.length > 0 || !page.hasMore || scans === maxScans) return page
    from = page
  }
}

function readOnce(deps: PullDeps, input: PageInput, start: Start, isChecked: boolean): Promise<ReadPage> {
  const { db, clock } = deps
  return onCurrentServer(deps, async (history, histories) => {
    const from = sameStart(histories, start, history)
    if (from === null) return expired(deps)
    const now = clock.now()
    const { place } = from
    const sharedBy = [input.workspaceId, history.id, place.transactionId, place.id, input.limit, input.types].join(' ')
    const { facts, rows } = await deps.pulling.reads.read(sharedBy, () =>
      isOld(place)
        ? readOld(db, input, place, { until: history.oldUntil ?? new Date(0), since: unreadAfter(from) })
        : readLive(db, input, place),
    )
    // A place in a transaction that has not begun is of a time that this server does not know: it was restored from a copy of
    // its files, which shows in no other way.
    const isUnknown = isServerOf(history, facts) && place.transactionId >= BigInt(facts.nextTransactionId)
    const keptFrom = dayOf(facts.oldest)
    const isDeleted = isChecked && keptFrom !== null && start.unreadFrom < keptFrom
    if (isUnknown || isDeleted) return expired(deps)
    const after = afterRead(input, place, { facts, rows }, now)
    const unreadFrom = keptFrom !== null && after.unreadFrom < keptFrom ? keptFrom : after.unreadFrom
    return { server: facts, result: { ...after, unreadFrom, history, rows } }
  })
}

/** The start in this history. Between two reads the server may have changed. */
function sameStart(histories: readonly HistoryRow[], start: Start, history: HistoryRow): Start | null {
  if (start.history.id === history.id) return start
  const place = placeIn(histories, { history: start.history.id, place: start.place })
  return place && { ...start, history, place }
}

/**
 * Runs statements in the history of the server that they run on. If that is another server than the one that this process
 * knows, it reads the histories again and repeats them.
 */
async function onCurrentServer<T>(
  { pulling: { histories } }: PullDeps,
  run: (history: HistoryRow, histories: readonly HistoryRow[]) => Promise<{ server: Server; result: T }>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const known = await histories.all()
    const history = lastOf(known)
    const { server, result } = await run(history, known)
    if (isServerOf(history, server)) return result
    histories.forget()
    if (tries === 3) refuse('service_unavailable', { message: 'The database server is changing. Try again shortly.' })
  }
}

type After = Pick<ReadPage, 'place' | 'unreadFrom' | 'hasMore' | 'isHeld'>

/**
 * Where a read has ended. It does not go beyond the last event: after a crash PostgreSQL may use the IDs of transactions again
 * that came later and left no trace.
 */
function afterRead(input: PageInput, from: Place, { facts, rows }: PageRead, now: Date): After {
  const isCut = facts.matches > rows.length
  const last = isCut ? rows.at(-1) : facts.last
  const place = last ? { transactionId: isOld(from) ? 0n : BigInt(last.transactionId ?? 0), id: last.id } : from
  const isHeld = facts.heldFrom !== null
  if (last && (isCut || facts.scanned === input.scanLimit)) {
    return { place, unreadFrom: unreadSince(last.createdAt), hasMore: true, isHeld }
  }
  if (!isOld(from)) return { place, unreadFrom: unreadSince(facts.heldFrom ?? now), hasMore: false, isHeld }
  // After the last of the old events, reading continues with those that have a transaction ID.
  return { place: liveStart, unreadFrom: unreadSince(last?.createdAt ?? new Date(0)), hasMore: true, isHeld }
}

/** All unread events were created after it. The oldest cursor has another time, so that it has not expired. */
const unreadAfter = ({ place, unreadFrom }: Start): Date =>
  new Date(place.id === oldStart.id ? 0 : Math.max(0, unreadFrom.getTime() - 1))

const unreadSince = (at: Date): Date => new Date(Math.max(0, at.getTime() - latenessMs))

/** The day of a partition: `events_20261116`. */
function dayOf(partition: string | null): Date | null {
  const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(partition ?? '') ?? []
  return year === undefined ? null : new Date(`${year}-${month}-${day}T00:00:00Z`)
}

async function expired({ pulling, clock, workspaceId }: PullDeps): Promise<never> {
  const history = lastOf(await pulling.histories.all())
  const oldest = { history: history.id, place: startOf(history), unreadFrom: clock.now() }
  refuse('cursor_expired', { details: { oldest_cursor: pulling.cursors.write(workspaceId, oldest) } })
}

function lastOf(histories: readonly HistoryRow[]): HistoryRow {
  const last = histories.at(-1)
  if (!last) throw new Error('there is no event history')
  return last
}
