import type { Db } from '../../../db/db.ts'

export const findTraceparents = (
  db: Db,
  messageIds: readonly string[],
): Promise<{ id: string; traceparent: string }[]> =>
  db.rows('select id, traceparent from messages where id = any($1::uuid[]) and traceparent is not null', [messageIds])
