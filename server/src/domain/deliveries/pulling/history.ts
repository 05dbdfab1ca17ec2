import type { Db } from '../../../db/db.ts'
import { refuse } from '../../../lib/refuse.ts'
import type { Cursor } from './cursor.ts'
import { ensureHistory, type HistoryRow, isIndexed, markHistory, readHistories } from './history.sql.ts'
import { liveStart, notBeyond, oldStart, type Position } from './position.ts'

/** The server that a statement ran on. */
export interface Server {
  system: string
  timeline: number
}

/** The histories that this process knows. A statement that ran on another server makes it read them again. */
export class Histories {
  readonly #db: Db
  #known: Promise<HistoryRow[]> | null = null

  constructor(db: Db) {
    this.#db = db
  }

  /** The known histories, the current one last. */
  async all(): Promise<readonly HistoryRow[]> {
    this.#known ??= this.#read()
    return this.#known.catch((error: unknown) => {
      this.#known = null
      throw error
    })
  }

  forget(): void {
    this.#known = null
  }

  async #read(): Promise<HistoryRow[]> {
    await ensureHistory(this.#db)
    if (!(await isIndexed(this.#db))) {
      refuse('service_unavailable', {
        message:
          'Events cannot be read yet: after an upgrade or a restore, their index is being built. Try again shortly.',
        headers: { 'Retry-After': '30' },
      })
    }
    return readHistories(this.#db)
  }
}

/** For maintenance, every few seconds: what a failover may repeat is what was published since. */
export async function keepHistory(db: Db): Promise<void> {
  await ensureHistory(db)
  await markHistory(db)
}

export const isServerOf = (history: HistoryRow, { system, timeline }: Server): boolean =>
  history.system === system && history.timeline === timeline

/** Where reading begins without a cursor. */
export const startOf = (history: HistoryRow): Position => (history.oldUntilUs === null ? liveStart : oldStart)

/** Where a cursor continues in the current history. Null if its transaction IDs mean nothing any more. */
export function positionIn(histories: readonly HistoryRow[], { history, position }: Cursor): Position | null {
  const index = histories.findIndex(({ id }) => id === history)
  const since = histories.slice(index + 1)
  if (index === -1 || since.some(({ continues }) => !continues)) return null
  if (position.kind === 'old') return position
  return since.reduce((moved, { beginsAt }) => notBeyond(moved, BigInt(beginsAt)), position)
}
