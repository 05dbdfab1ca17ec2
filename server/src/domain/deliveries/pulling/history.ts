import type { Db } from '../../../db/db.ts'
import type { Cursor } from './cursor.ts'
import { ensureHistory, type HistoryRow, markHistory, readHistories } from './history.sql.ts'
import { liveStart, notBeyond, oldStart, type Place } from './position.ts'

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
export const startOf = ({ oldUntil }: HistoryRow): Place => (oldUntil === null ? liveStart : oldStart)

/** Where a cursor continues in the current history. Null if its transaction ID means nothing any more. */
export function placeIn(
  histories: readonly HistoryRow[],
  { history, place }: Omit<Cursor, 'unreadFrom'>,
): Place | null {
  const index = histories.findIndex(({ id }) => id === history)
  const since = histories.slice(index + 1)
  if (index === -1 || since.some(({ continues }) => !continues)) return null
  return since.reduce((moved, { beginsAt }) => notBeyond(moved, BigInt(beginsAt)), place)
}
