import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../db/db.ts'
import type { OnChange } from '../../../db/notices/change-notices.ts'
import { readNewTypes } from './pulling.sql.ts'

/** A reader that waits for an event. */
export interface WaitingReader {
  /** Call it before looking for events. What is published from then on wakes the reader. */
  look(): void
  /** It looked, and there is nothing to read after this position. `isHeld`: there will be, when an older transaction has ended. */
  foundNothing(after: bigint, isHeld: boolean): void
  /** Whether it was woken since it began to look. */
  readonly isWoken: boolean
  /** Calls `wake` when there is an event. Returns a function that ends that. */
  onWake(wake: () => void): () => void
  leave(): void
}

/** The readers of a workspace. */
interface Group {
  readers: Set<Reader>
  /** No event after this position has been looked for yet. Null until a reader has found nothing. */
  after: bigint | null
}

interface Reader {
  types: ReadonlySet<string> | null
  isWoken: boolean
  wake: (() => void) | null
}

/** Notices of many workspaces are looked up together. */
const lookEveryMs = 100
/** While there are events that cannot be read yet: no notice says when the older transaction has ended. */
const heldEveryMs = 50
const retryMs = 1_000
const workspacesPerLook = 100

/**
 * The readers of this process that wait. A waiting reader is an entry in memory: it has no connection, and no statement runs for
 * it. Processes that publish events notify all others after the commit, for the pages of the console too. Only then one
 * statement looks for new events in the workspaces that were named and have readers, and the readers of those types are woken.
 * If a process dies before it notifies, readers find its events when their time is over.
 */
export class WaitingReaders {
  readonly #db: Db
  readonly #groups = new Map<string, Group>()
  #notified = new Set<string>()
  #isLooking = false

  constructor(db: Db, changes: Set<OnChange>) {
    this.#db = db
    changes.add((change) => {
      if (change === null) {
        for (const group of this.#groups.values()) wakeAll(group)
      } else if (change.topic === 'messages') this.#notice(change.workspaceId)
    })
  }

  /** Adds a reader. Call `leave` at the end. */
  enter(workspaceId: string, types: readonly string[] | null): WaitingReader {
    const group = this.#groups.get(workspaceId) ?? { readers: new Set(), after: null }
    this.#groups.set(workspaceId, group)
    const reader: Reader = { types: types && new Set(types), isWoken: false, wake: null }
    group.readers.add(reader)
    return {
      look() {
        reader.isWoken = false
      },
      foundNothing: (after, isHeld) => {
        // Another reader may have read further since this one looked.
        const isBehind = group.after !== null && after < group.after
        if (group.after === null || isBehind) group.after = after
        if (isHeld || isBehind) this.#notice(workspaceId)
      },
      get isWoken() {
        return reader.isWoken
      },
      onWake(wake) {
        reader.wake = wake
        return () => {
          reader.wake = null
        }
      },
      leave: () => {
        group.readers.delete(reader)
        if (group.readers.size === 0) this.#groups.delete(workspaceId)
      },
    }
  }

  #notice(workspaceId: string): void {
    if (!this.#groups.has(workspaceId)) return
    this.#notified.add(workspaceId)
    if (!this.#isLooking) void this.#look()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    while (this.#notified.size > 0) {
      const notified = [...this.#notified].slice(0, workspacesPerLook)
      for (const workspaceId of notified) this.#notified.delete(workspaceId)
      const nextMs = await this.#lookAt(notified).catch(() => {
        // The database is away. Those who still wait are looked up again.
        for (const workspaceId of notified) if (this.#groups.has(workspaceId)) this.#notified.add(workspaceId)
        return retryMs
      })
      await sleep(nextMs, undefined, { ref: false })
    }
    this.#isLooking = false
  }

  /** Returns when to look again. */
  async #lookAt(workspaceIds: readonly string[]): Promise<number> {
    const asked = new Map<string, { group: Group; after: bigint }>()
    for (const workspaceId of workspaceIds) {
      const group = this.#groups.get(workspaceId)
      if (!group) continue
      if (group.after !== null) asked.set(workspaceId, { group, after: group.after })
      // Its readers are still looking for themselves, and have to look once more.
      else wakeAll(group)
    }
    if (asked.size === 0) return lookEveryMs
    const readers = Array.from(asked, ([workspaceId, { after }]) => ({ workspaceId, after }))
    let nextMs = lookEveryMs
    for (const { workspaceId, types, isPartial, lastPosition, isHeld } of await readNewTypes(this.#db, readers)) {
      const { group, after } = asked.get(workspaceId) ?? {}
      // If its readers have left, those who came after them have looked for themselves. With another `after`, one of
      // them is behind, and is looked up again.
      if (!group || this.#groups.get(workspaceId) !== group || group.after !== after) continue
      if (lastPosition !== null) group.after = BigInt(lastPosition)
      for (const reader of group.readers) if (isPartial || types.some((type) => wants(reader, type))) wake(reader)
      if (!isHeld) continue
      this.#notified.add(workspaceId)
      nextMs = heldEveryMs
    }
    return nextMs
  }
}

const wants = ({ types }: Reader, type: string): boolean => types === null || types.has(type)

function wakeAll({ readers }: Group): void {
  for (const reader of readers) wake(reader)
}

function wake(reader: Reader): void {
  reader.isWoken = true
  reader.wake?.()
}
