import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../../db/db.ts'
import type { OnChange } from '../../../lib/process.ts'
import { afterAll, type LivePosition, runningIn } from './position.ts'
import { readNewTypes } from './pulling.sql.ts'

/** A reader that waits for an event. */
export interface WaitingReader {
  /** Call it before looking for events. What is published from then on wakes the reader. */
  look(): void
  /** It looked, and found nothing up to this position. */
  foundNothing(position: LivePosition): void
  /** Whether it was woken since it began to look. */
  readonly isWoken: boolean
  /** Calls `wake` when there is an event. Returns a function that ends that. */
  onWake(wake: () => void): () => void
  leave(): void
}

/** The readers of a workspace. */
interface Group {
  readers: Set<Reader>
  /** No event after it has been looked for yet. Null until a reader has found nothing. */
  position: LivePosition | null
}

interface Reader {
  types: ReadonlySet<string> | null
  isWoken: boolean
  wake: (() => void) | null
}

/** Notices of many workspaces are looked up together. */
const lookEveryMs = 100
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

  constructor(db: Db) {
    this.#db = db
    const onChange: OnChange = (change) => {
      if (change === null) {
        for (const group of this.#groups.values()) {
          // After a failover, the transactions of the old position may have been given again.
          group.position = null
          wakeAll(group)
        }
      } else if (change.topic === 'messages') this.#notice(change.workspaceId)
    }
    db.process.onChange.add(onChange)
  }

  /** Adds a reader. Call `leave` at the end. */
  enter(workspaceId: string, types: readonly string[] | null): WaitingReader {
    const group = this.#groups.get(workspaceId) ?? { readers: new Set(), position: null }
    this.#groups.set(workspaceId, group)
    const reader: Reader = { types: types && new Set(types), isWoken: false, wake: null }
    group.readers.add(reader)
    return {
      look() {
        reader.isWoken = false
      },
      foundNothing(position) {
        group.position ??= position
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
      const isDone = await this.#lookAt(notified).catch(() => {
        // The database is away. Those who still wait are looked up again.
        for (const workspaceId of notified) if (this.#groups.has(workspaceId)) this.#notified.add(workspaceId)
        return false
      })
      await sleep(isDone ? lookEveryMs : retryMs, undefined, { ref: false })
    }
    this.#isLooking = false
  }

  async #lookAt(workspaceIds: readonly string[]): Promise<boolean> {
    const asked = new Map<string, Group & { position: LivePosition }>()
    for (const workspaceId of workspaceIds) {
      const group = this.#groups.get(workspaceId)
      if (!group) continue
      if (hasPosition(group)) asked.set(workspaceId, group)
      // Its readers are still looking for themselves, and have to look once more.
      else wakeAll(group)
    }
    if (asked.size === 0) return true
    const positions = [...asked].map(([workspaceId, { position }]) => ({ workspaceId, position }))
    const positionOf = new Map(positions.map(({ workspaceId, position }) => [workspaceId, position]))
    for (const { workspaceId, types, isPartial, lastTransactionId, snapshot } of await readNewTypes(
      this.#db,
      positions,
    )) {
      const group = asked.get(workspaceId)
      // If its readers have left meanwhile, those who came after them have looked for themselves. Without the position that was
      // asked for, its readers were woken meanwhile: the server may be another one.
      if (!group || this.#groups.get(workspaceId) !== group || group.position !== positionOf.get(workspaceId)) continue
      const last = lastTransactionId === null ? null : BigInt(lastTransactionId)
      group.position = afterAll(group.position, last, runningIn(snapshot))
      for (const reader of group.readers) if (isPartial || types.some((type) => wants(reader, type))) wake(reader)
    }
    return true
  }
}

const hasPosition = (group: Group): group is Group & { position: LivePosition } => group.position !== null

const wants = ({ types }: Reader, type: string): boolean => types === null || types.has(type)

function wakeAll({ readers }: Group): void {
  for (const reader of readers) wake(reader)
}

function wake(reader: Reader): void {
  reader.isWoken = true
  reader.wake?.()
}
