import { expect, test } from 'vitest'
import { newUuid } from '../../../lib/ids.ts'
import { readCursor, writeCursor } from './cursor.ts'
import { afterAll, afterPlace, type LivePosition, liveStart, notBeyond, runningIn } from './position.ts'

/** Numbers that are always the same for one seed. */
function newRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}

interface Event {
  transactionId: bigint
  id: string
}

/** Transactions that insert events and end in any order, as PostgreSQL sees them. */
class Model {
  #next = 700n
  #ids = 0
  readonly running = new Map<bigint, Event[]>()
  readonly committed: Event[] = []

  begin(): void {
    this.running.set(this.#next++, [])
  }

  insert(transactionId: bigint): void {
    const id = `00000000-0000-7000-8000-${String(++this.#ids).padStart(12, '0')}`
    this.running.get(transactionId)?.push({ transactionId, id })
  }

  end(transactionId: bigint, commits: boolean): void {
    if (commits) this.committed.push(...(this.running.get(transactionId) ?? []))
    this.running.delete(transactionId)
  }

  /** What the statement of a page finds, and the position after it. */
  read({ next, open }: LivePosition, limit: number): { events: Event[]; position: LivePosition } {
    const isUnread = ({ transactionId, id }: Event) => {
      const opened = open.find((each) => each.id === transactionId)
      return opened ? opened.after === null || id > opened.after : transactionId >= next
    }
    const found = this.committed
      .filter(isUnread)
      .sort((a, b) => Number(a.transactionId - b.transactionId) || (a.id < b.id ? -1 : 1))
    const events = found.slice(0, limit)
    const last = events.at(-1)
    const running = [...this.running.keys()]
    const before: LivePosition = { kind: 'live', next, open }
    const isCut = last !== undefined && found.length > events.length
    const position = isCut ? afterPlace(before, last, running) : afterAll(before, last?.transactionId ?? null, running)
    return { events, position }
  }
}

test.each(Array.from({ length: 60 }, (_, seed) => seed))(
  'a reader gets every committed event once, whatever the order in which transactions end (seed %i)',
  (seed) => {
    const random = newRandom(seed + 1)
    const model = new Model()
    const workspaceId = newUuid()
    const history = newUuid()
    const read: string[] = []
    let position = liveStart
    const readPage = () => {
      const page = model.read(position, 1 + random(4))
      read.push(...page.events.map(({ id }) => id))
      const text = writeCursor(workspaceId, { history, unreadFrom: new Date(), position: page.position })
      position = readCursor(workspaceId, text).position as LivePosition
      return page.events.length
    }
    for (let step = 0; step < 400; step++) {
      const running = [...model.running.keys()]
      const one = running[random(running.length)]
      const choice = random(10)
      if (choice < 2 || one === undefined) model.begin()
      else if (choice < 6) model.insert(one)
      else if (choice < 8) model.end(one, random(5) > 0)
      else readPage()
    }
    for (const id of model.running.keys()) model.end(id, true)
    while (readPage() > 0);
    expect(read.length).toBeGreaterThan(20)
    expect(read.toSorted()).toEqual(model.committed.map(({ id }) => id).toSorted())
  },
)

test('a position does not go beyond the last event, because later transaction IDs may be used again after a crash', () => {
  const position = afterAll({ kind: 'live', next: 5n, open: [] }, 20n, [7n, 30n])
  expect(position).toEqual({ kind: 'live', next: 21n, open: [{ id: 7n, after: null }] })
  expect(afterAll(position, null, [])).toEqual({ kind: 'live', next: 21n, open: [] })
})

test('after a failover a position goes back to where the new server may have used IDs again', () => {
  const position: LivePosition = {
    kind: 'live',
    next: 100n,
    open: [40, 60].map((id) => ({ id: BigInt(id), after: null })),
  }
  expect(notBeyond(position, 50n)).toEqual({ kind: 'live', next: 50n, open: [{ id: 40n, after: null }] })
  expect(notBeyond(position, 100n)).toBe(position)
})

test('the running transactions of a snapshot are read', () => {
  expect(runningIn('10:20:10,14')).toEqual([10n, 14n])
  expect(runningIn('10:10:')).toEqual([])
})

test('a cursor keeps its content, and is valid for its workspace only', () => {
  const [workspaceId, history, after] = [newUuid(), newUuid(), newUuid()]
  const unreadFrom = new Date('2026-11-16T12:00:00Z')
  const live = { history, unreadFrom, position: { kind: 'live' as const, next: 2n ** 62n, open: [{ id: 9n, after }] } }
  const old = { history, unreadFrom, position: { kind: 'old' as const, atUs: 1_786_000_000_000_001, id: after } }
  for (const cursor of [live, old]) {
    const text = writeCursor(workspaceId, cursor)
    expect(readCursor(workspaceId, text)).toEqual(cursor)
    expect(() => readCursor(newUuid(), text)).toThrow('Invalid cursor')
    expect(() => readCursor(workspaceId, text.slice(0, -2))).toThrow('Invalid cursor')
    expect(() => readCursor(workspaceId, `x${text}`)).toThrow('Invalid cursor')
  }
  expect(() => readCursor(workspaceId, '')).toThrow('Invalid cursor')
})
