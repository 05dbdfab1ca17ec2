import type { MessageError } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'

/** A sender, a connection or an app that has to wait. */
export interface Hold {
  subjectId: string
  until: Date
  failures: number
  error: MessageError
}

export const insertHolds = (db: Db, holds: readonly Hold[]): Promise<number> =>
  db.change(
    `insert into sending_holds as h (subject_id, until, failures, error)
     select distinct on (n.subject_id) n.* from unnest($1::uuid[], $2::timestamptz[], $3::int[], $4::json[])
       as n(subject_id, until, failures, error)
     order by n.subject_id, n.until desc
     on conflict (subject_id) do update set until = greatest(h.until, excluded.until),
       failures = greatest(h.failures, excluded.failures), error = excluded.error`,
    [
      holds.map((hold) => hold.subjectId),
      holds.map((hold) => hold.until),
      holds.map((hold) => hold.failures),
      holds.map((hold) => JSON.stringify(hold.error)),
    ],
  )

/** The network took a message again. */
export const dropHolds = (db: Db, subjectIds: readonly string[]): Promise<number> =>
  db.change('delete from sending_holds where subject_id = any($1::uuid[])', [subjectIds])

/** Everything to one recipient waits. */
export const holdPair = (db: Db, senderId: string, recipient: string, until: Date): Promise<number> =>
  db.change(
    `update outbox set due_at = $3
     where state = 'waiting' and sender_id = $1 and recipient = $2 and due_at < $3`,
    [senderId, recipient, until],
  )
