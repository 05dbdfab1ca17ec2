import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

/** Stores changes of user IDs. A repeated or older change of the same ID does nothing. */
export const insertUserIdChanges = statement(
  {
    changes: {
      workspaceId: 'uuid',
      oldUserId: 'text',
      newUserId: 'text',
      changedNumber: 'bool',
      number: 'text',
      changedAt: 'timestamptz',
    },
  },
  ({ changes }) => `insert into user_id_changes as c (${changes.columns})
     select distinct on (changes.workspace_id, changes.old_user_id) changes.* from ${changes}
     order by changes.workspace_id, changes.old_user_id, changes.changed_at desc
     on conflict (workspace_id, old_user_id) do update set new_user_id = excluded.new_user_id,
       changed_number = excluded.changed_number, number = excluded.number, changed_at = excluded.changed_at
     where excluded.changed_at >= c.changed_at`,
).change

export interface CurrentUser {
  userId: string
  changedNumber: boolean
  number: string | null
}

/**
 * The current ID of a person, after all changes since this ID. Each step is later than the one before it; the network's
 * times are whole seconds, so changes of the same second are followed too, each ID once.
 */
export const currentUser = async (db: Db, workspaceId: string, userId: string): Promise<CurrentUser> =>
  (await db.first<CurrentUser>(
    `with recursive followed as (
       select $2::text as user_id, false as changed_number, null::text as number, '-infinity'::timestamptz as at,
         array[$2::text] as path
       union all
       select c.new_user_id, f.changed_number or c.changed_number,
         case when c.changed_number then c.number else f.number end, c.changed_at, f.path || c.new_user_id
       from followed f join user_id_changes c on c.workspace_id = $1 and c.old_user_id = f.user_id
       where c.changed_at > f.at or (c.changed_at = f.at and c.new_user_id <> all(f.path)))
     select user_id as "userId", changed_number as "changedNumber", number from followed
     order by cardinality(path) desc limit 1`,
    [workspaceId, userId],
  )) ?? { userId, changedNumber: false, number: null }

/** The IDs that the network replaced with this one, directly or through others. Each step back is earlier. */
export const earlierUserIds = async (db: Db, workspaceId: string, userId: string): Promise<string[]> =>
  (
    await db.rows<{ userId: string }>(
      `with recursive followed as (
         select $2::text as user_id, 'infinity'::timestamptz as at, array[$2::text] as path
         union all
         select c.old_user_id, c.changed_at, f.path || c.old_user_id
         from followed f join user_id_changes c on c.workspace_id = $1 and c.new_user_id = f.user_id
         where c.old_user_id <> all(f.path) and c.changed_at <= f.at)
       select distinct user_id as "userId" from followed where cardinality(path) > 1`,
      [workspaceId, userId],
    )
  ).map(({ userId }) => userId)
