import { defaultEventLimit, type EventQuery } from '@parley/contract/pulled-events'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { refuse } from '../../../lib/refuse.ts'
import { type Cursor, readCursor, writeCursor } from './cursor.ts'
import type { HistoryRow } from './history.sql.ts'
import { Histories, isServerOf, positionIn, type Server, startOf } from './history.ts'
import { afterAll, afterPlace, isBeyond, type LivePosition, liveStart, type Position, runningIn } from './position.ts'
import {
  type PageFacts,
  type PageInput,
  type PageRead,
  type PageRow,
  readLive,
  readNewest,
  readOld,
} from './pulling.sql.ts'
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
  histories: Histories
  readers: WaitingReaders
  reads: SharedReads<PageRead>
}

export const newPulling = ({ db }: { db: Db }): Pulling => ({
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
      if (page.position.kind === 'live') reader.foundNothing(page.position)
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
    const { history, unreadFrom, position } = page
    const nextCursor = writeCursor(workspaceId, { history: history.id, unreadFrom, position })
    return { bodies: page.rows.map(({ body }) => body), hasMore: page.hasMore, nextCursor }
  } finally {
    reader?.leave()
  }
}

/** Where a reader is, in the history of the server that said so. */
interface Start {
  history: HistoryRow
  position: Position
  unreadFrom: Date
}

interface ReadPage extends Start {
  rows: readonly PageRow[]
  hasMore: boolean
}

const isEmpty = ({ rows, hasMore }: ReadPage): boolean => rows.length === 0 && !hasMore

/** The start of a request: its cursor, the oldest event, or now. */
async function resolve(deps: PullDeps, after: string | undefined): Promise<Start> {
  const { db, workspaceId, pulling } = deps
  if (after === 'latest') {
    return onCurrentServer(deps, async (history) => {
      const newest = await readNewest(db, workspaceId)
      const last = newest.transactionId === null ? null : BigInt(newest.transactionId)
      const position = afterAll(liveStart, last, runningIn(newest.snapshot))
      return { server: newest, result: { history, position, unreadFrom: unreadSince(deps.clock.now()) } }
    })
  }
  if (after === undefined) {
    const history = lastOf(await pulling.histories.all())
    return { history, position: startOf(history), unreadFrom: new Date(0) }
  }
  const cursor = readCursor(workspaceId, after)
  return (await startAt(pulling.histories, cursor)) ?? expired(deps)
}

/** Null if the cursor belongs to another history. This process may not know the latest ones. */
async function startAt(histories: Histories, cursor: Cursor): Promise<Start | null> {
  let known = await histories.all()
  if (known.every(({ id }) => id !== cursor.history)) {
    histories.forget()
    known = await histories.all()
  }
  const position = positionIn(known, cursor)
  return position && { history: lastOf(known), position, unreadFrom: cursor.unreadFrom }
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
    const { position } = from
    const name = writeCursor(input.workspaceId, { ...from, history: history.id, unreadFrom: new Date(0) })
    const sharedBy = `${input.workspaceId} ${name} ${input.limit} ${input.types}`
    const { facts, rows } = await deps.pulling.reads.read(sharedBy, () =>
      position.kind === 'old' ? readOld(db, input, position, history.oldUntilUs ?? 0) : readLive(db, input, position),
    )
    if (position.kind === 'live' && isServerOf(history, facts) && isBeyond(position, facts.snapshot))
      return expired(deps)
    const keptFrom = dayOf(facts.oldest)
    if (isChecked && keptFrom !== null && start.unreadFrom < keptFrom) return expired(deps)
    const after = position.kind === 'old' ? afterOld(input, facts, rows) : afterLive(input, facts, rows, position, now)
    const unreadFrom = keptFrom !== null && after.unreadFrom < keptFrom ? keptFrom : after.unreadFrom
    return { server: facts, result: { ...after, unreadFrom, history, rows } }
  })
}

/** The start in this history. Between two reads the server may have changed. */
function sameStart(histories: readonly HistoryRow[], start: Start, history: HistoryRow): Start | null {
  if (start.history.id === history.id) return start
  const position = positionIn(histories, { ...start, history: start.history.id })
  return position && { ...start, history, position }
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

type After = Pick<ReadPage, 'position' | 'unreadFrom' | 'hasMore'>

function afterLive(input: PageInput, facts: PageFacts, rows: readonly PageRow[], from: LivePosition, now: Date): After {
  const running = runningIn(facts.snapshot)
  const last = rows.at(-1)
  if (last && facts.matches > rows.length) {
    const place = { transactionId: BigInt(last.transactionId ?? 0), id: last.id }
    return { position: afterPlace(from, place, running), unreadFrom: unreadSince(last.createdAt), hasMore: true }
  }
  const lastTransactionId = facts.lastTransactionId === null ? null : BigInt(facts.lastTransactionId)
  if (facts.scanned < input.scanLimit || lastTransactionId === null) {
    return { position: afterAll(from, lastTransactionId, running), unreadFrom: unreadSince(now), hasMore: false }
  }
  const place = { transactionId: lastTransactionId, id: facts.lastId as string }
  return {
    position: afterPlace(from, place, running),
    unreadFrom: unreadSince(facts.lastAt ?? now),
    hasMore: true,
  }
}

/** After the last of the old events, reading goes on with those that have a transaction ID. */
function afterOld(input: PageInput, facts: PageFacts, rows: readonly PageRow[]): After {
  const last = rows.at(-1)
  if (last && facts.matches > rows.length) {
    const position: Position = { kind: 'old', atUs: last.createdAtUs, id: last.id }
    return { position, unreadFrom: unreadSince(last.createdAt), hasMore: true }
  }
  const unreadFrom = unreadSince(facts.lastAt ?? new Date(0))
  if (facts.scanned < input.scanLimit) return { position: liveStart, unreadFrom, hasMore: true }
  const position: Position = { kind: 'old', atUs: facts.lastAtUs as number, id: facts.lastId as string }
  return { position, unreadFrom, hasMore: true }
}

const unreadSince = (at: Date): Date => new Date(Math.max(0, at.getTime() - latenessMs))

/** The day of a partition: `events_20261116`. */
function dayOf(partition: string | null): Date | null {
  const [, year, month, day] = /_(\d{4})(\d\d)(\d\d)$/.exec(partition ?? '') ?? []
  return year === undefined ? null : new Date(`${year}-${month}-${day}T00:00:00Z`)
}

async function expired({ pulling: { histories }, clock, workspaceId }: PullDeps): Promise<never> {
  const history = lastOf(await histories.all())
  const oldest = { history: history.id, position: startOf(history), unreadFrom: clock.now() }
  refuse('cursor_expired', { details: { oldest_cursor: writeCursor(workspaceId, oldest) } })
}

function lastOf(histories: readonly HistoryRow[]): HistoryRow {
  const last = histories.at(-1)
  if (!last) throw new Error('there is no event history')
  return last
}
