import type { Db } from '../../db/db.ts'

/**
 * Notes an object as unused before it is written. It is deleted after a day, far longer than any upload, unless a file refers
 * to it by then.
 */
export const noteObject = (db: Db, objectKey: string, workspaceId: string): Promise<number> =>
  db.change(
    `insert into unused_objects (object_key, workspace_id, delete_at) values ($1, $2, now() + interval '1 day')
     on conflict (object_key) do nothing`,
    [objectKey, workspaceId],
  )

/** Lets an unused object be deleted now. */
export const deleteSoon = (db: Db, objectKey: string): Promise<number> =>
  db.change('update unused_objects set delete_at = now() where object_key = $1', [objectKey])

/** Claims unused objects to delete. From now on no file can refer to them. */
export async function claimUnused(db: Db, limit: number): Promise<string[]> {
  const rows = await db.rows<{ key: string }>(
    `with due as (
       select object_key from unused_objects where delete_at <= now()
       order by delete_at limit $1 for update skip locked
     )
     update unused_objects u set is_deleting = true from due where u.object_key = due.object_key
     returning u.object_key as key`,
    [limit],
  )
  return rows.map(({ key }) => key)
}

export const forgetObjects = (db: Db, keys: readonly string[]): Promise<number> =>
  db.change('delete from unused_objects where object_key = any($1::text[]) and is_deleting', [keys])

/** Objects that could not be deleted are tried again after the others. */
export const postponeObjects = (db: Db, keys: readonly string[]): Promise<number> =>
  db.change(`update unused_objects set delete_at = now() + interval '1 hour' where object_key = any($1::text[])`, [
    keys,
  ])

export const hasFilesInObjects = async (db: Db): Promise<boolean> =>
  (await db.rows(`select 1 from flow_files where state = 'fetched' and object_key is not null limit 1`)).length > 0

/** How many unused objects should have been deleted for longer than this. */
export async function countOverdue(db: Db, hours: number): Promise<number> {
  const row = await db.first<{ count: number }>(
    `select count(*)::int as count from (
       select 1 from unused_objects where delete_at < now() - make_interval(hours => $1) limit 10000) as overdue`,
    [hours],
  )
  return row?.count ?? 0
}
