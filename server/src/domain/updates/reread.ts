/** What reading updates again needs of them. */
import type { Db } from '../../db/db.ts'
import { interpretation } from '../../whatsapp/incoming/incoming.ts'
import * as sql from './updates.sql.ts'
import { deleteUpdates, lockUpdates, type RereadFilter, type RereadRow, type UpdateRow } from './updates.sql.ts'

export type { RereadFilter }

const maxBytes = 1_000_000

/** Locks the next updates until the end of the transaction. */
export const takeUpdates = (tx: Db, filter: RereadFilter, most: number): Promise<UpdateRow[]> =>
  lockUpdates(tx, filter, { updates: most, bytes: maxBytes })

export const removeUpdates = (tx: Db, ids: readonly string[]): Promise<number> =>
  ids.length === 0 ? Promise.resolve(0) : deleteUpdates(tx, ids)

/** Marks updates as read by the interpretation that runs now. */
export const saveReread = (db: Db, updates: readonly RereadRow[]): Promise<number> =>
  updates.length === 0 ? Promise.resolve(0) : sql.saveReread(db, updates, interpretation)
