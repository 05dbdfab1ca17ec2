import type { Db } from '../../db/db.ts'

/**
 * Adds new rows to the indexes of the search. Until then they are in a list that a search reads too. PostgreSQL would do it when
 * the list is full, and the webhook that filled it would wait.
 */
export const mergeIndexes = (db: Db): Promise<unknown> =>
  db.rows(
    `select gin_clean_pending_list(i.oid::regclass) from pg_class i join pg_am a on a.oid = i.relam
     where a.amname = 'gin' and i.relkind = 'i' and i.relnamespace = current_schema()::regnamespace`,
  )
