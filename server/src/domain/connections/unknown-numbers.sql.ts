import type { Db } from '../../db/db.ts'
import { statement } from '../../db/statement.ts'

export interface DroppedUpdates {
  appId: string
  wabaId: string
  phoneNumberId: string
  updates: number
}

/** Counts dropped updates, for at most `most` numbers of an app. Inserted in order, so that two batches cannot deadlock. */
export const countDropped = statement(
  {
    dropped: { appId: 'uuid', wabaId: 'text', phoneNumberId: 'text', updates: 'int' },
    now: 'timestamptz',
    most: 'int',
  },
  ({ dropped, now, most }) => `insert into unknown_numbers as u
       (app_id, waba_id, phone_number_id, updates, first_seen_at, last_seen_at)
     select d.app_id, d.waba_id, d.phone_number_id, d.updates, ${now}, ${now}
     from (select dropped.*, row_number() over (partition by dropped.app_id) as position from ${dropped}) as d
     where exists (
         select from unknown_numbers k
         where (k.app_id, k.waba_id, k.phone_number_id) = (d.app_id, d.waba_id, d.phone_number_id))
       or d.position + (select count(*) from unknown_numbers k where k.app_id = d.app_id) <= ${most}
     order by d.app_id, d.waba_id, d.phone_number_id
     on conflict (app_id, waba_id, phone_number_id) do update set
       updates = u.updates + excluded.updates, last_seen_at = greatest(u.last_seen_at, excluded.last_seen_at)`,
).change

export interface UnknownNumber extends DroppedUpdates {
  appName: string
  lastSeenAt: Date
}

/** Numbers whose account is still not connected through their app, the most recent first. */
export const unknownNumbersSince = (db: Db, since: Date): Promise<UnknownNumber[]> =>
  db.rows(
    `select u.app_id as "appId", a.name as "appName", u.waba_id as "wabaId", u.phone_number_id as "phoneNumberId",
       u.updates, u.last_seen_at as "lastSeenAt"
     from unknown_numbers u join apps a on a.id = u.app_id
     where u.last_seen_at >= $1
       and not exists (select from connections c where c.app_id = u.app_id and c.waba_id = u.waba_id)
     order by u.last_seen_at desc, u.waba_id, u.phone_number_id`,
    [since],
  )

/** Deletes numbers that were not seen since a time, or whose account is connected now. */
export const deleteUnknown = (db: Db, before: Date): Promise<number> =>
  db.change(
    `delete from unknown_numbers u where u.last_seen_at < $1
       or exists (select from connections c where c.app_id = u.app_id and c.waba_id = u.waba_id)`,
    [before],
  )
