import type { Db } from '../../db/db.ts'

/**
 * Adds new rows to the indexes of the search. Until then they are in a list that a search reads too. PostgreSQL would do it when
 * the list is full, and the webhook that filled it would wait. It takes seconds after many messages, so it must not run in a
 * transaction that has an ID: readers of events wait for those.
 */
export async function mergeIndexes(db: Db): Promise<void> {
  const indexes = await db.rows<{ name: string }>(
    `select i.oid::regclass::text as name from pg_class i join pg_am a on a.oid = i.relam
     where a.amname = 'gin' and i.relkind = 'i' and i.relnamespace = current_schema()::regnamespace`,
  )
  for (const { name } of indexes) await db.rows('select gin_clean_pending_list($1::regclass)', [name])
}
