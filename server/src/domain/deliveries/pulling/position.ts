/**
 * How far a reader of events is. Transactions end in another order than they begin, so a position is not one number: it is the
 * set of transactions whose events were read. docs/decisions/reading-events.md explains it.
 */
export type Position = OldPosition | LivePosition

/** Among the events without a transaction ID, which are older than all others. They are read in the order of time and ID. */
export interface OldPosition {
  kind: 'old'
  /** In microseconds since 1970, as precise as the database. */
  atUs: number
  id: string
}

/** Every event of a transaction below `next` was read, except for those of `open`. */
export interface LivePosition {
  kind: 'live'
  next: bigint
  open: readonly OpenTransaction[]
}

/** A transaction that was still running, or of which only some events were read: those up to `after`, in the order of their IDs. */
export interface OpenTransaction {
  id: bigint
  after: string | null
}

/** Where an event is among all others. */
export interface Place {
  transactionId: bigint
  id: string
}

export const liveStart: LivePosition = { kind: 'live', next: 0n, open: [] }
export const oldStart: OldPosition = { kind: 'old', atUs: 0, id: '00000000-0000-0000-0000-000000000000' }

/** The transactions that were running, of `pg_current_snapshot()` as text: `xmin:xmax:xip,xip`. */
export function runningIn(snapshot: string): bigint[] {
  const [, , running = ''] = snapshot.split(':')
  return running === '' ? [] : running.split(',').map(BigInt)
}

/**
 * Whether a position has transactions that have not begun in this snapshot. It is from a time that the server does not know: it was
 * restored from a copy of its files, which shows in no other way.
 */
export function isBeyond({ next }: LivePosition, snapshot: string): boolean {
  const [, end = '0'] = snapshot.split(':')
  return next > BigInt(end)
}

/**
 * The position after all visible events were read, of which the last one belongs to `last`. It does not go beyond that
 * transaction: after a crash PostgreSQL may use the IDs of transactions again that came later and left no trace.
 */
export function afterAll(before: LivePosition, last: bigint | null, running: readonly bigint[]): LivePosition {
  const next = later(before.next, last)
  const open = running.filter((id) => id < next).map((id) => ({ id, after: null }))
  return { kind: 'live', next, open: open.sort(byId) }
}

/** The position after all visible events up to and including `last` were read, and more follow. */
export function afterPlace(before: LivePosition, last: Place, running: readonly bigint[]): LivePosition {
  const open: OpenTransaction[] = [
    ...running.filter((id) => id < last.transactionId).map((id) => ({ id, after: null })),
    { id: last.transactionId, after: last.id },
    ...before.open.filter(({ id }) => id > last.transactionId),
  ]
  return { kind: 'live', next: later(before.next, last.transactionId), open: open.sort(byId) }
}

/** The position for a server that may use transaction IDs from `begin` on again. Events may be repeated; none is skipped. */
export function notBeyond(position: LivePosition, begin: bigint): LivePosition {
  if (position.next <= begin) return position
  return { kind: 'live', next: begin, open: position.open.filter(({ id }) => id < begin) }
}

const later = (next: bigint, last: bigint | null): bigint => (last !== null && last >= next ? last + 1n : next)

const byId = (left: OpenTransaction, right: OpenTransaction): number =>
  left.id < right.id ? -1 : left.id > right.id ? 1 : 0
