import type { Db } from '../../../db/db.ts'
import { batched } from '../../../sharing/batch.ts'
import type { FindTraceparent } from '../../../telemetry/tracing.ts'
import { findTraceparents } from './traceparent.sql.ts'

/** Reads the traces of messages, many with one statement. `db` must see all workspaces. */
export const newFindTraceparent = (db: Db): FindTraceparent =>
  batched(async (messageIds: string[]) => {
    const rows = await findTraceparents(db, messageIds)
    const byId = new Map(rows.map(({ id, traceparent }) => [id, traceparent]))
    return messageIds.map((id) => byId.get(id) ?? null)
  })
