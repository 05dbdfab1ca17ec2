import type { Db } from '../../../db/db.ts'

/** Events of all workspaces with an ID from `first` to `last`, from the index of IDs. */
export const eventsBetween = (
  db: Db,
  first: string,
  last: string,
  limit: number,
): Promise<{ id: string; type: string }[]> =>
  db.rows('select id, type from events where id between $1 and $2 order by id limit $3', [first, last, limit])
