import type { MessageError } from '@parley/contract/events'
import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'

/** Stops sending for a sender, a connection or an app until a time. */
export interface Hold {
  subjectId: string
  until: Date
  failures: number
  error: MessageError
}

export const insertHolds = statement(
  { holds: { subjectId: 'uuid', until: 'timestamptz', failures: 'int', error: 'json' } },
  ({ holds }) => `insert into sending_holds as h (${holds.columns})
     select distinct on (holds.subject_id) holds.* from ${holds} order by holds.subject_id, holds.until desc
     on conflict (subject_id) do update set until = greatest(h.until, excluded.until),
       failures = greatest(h.failures, excluded.failures), error = excluded.error`,
).change

/** Senders, connections and apps that are on hold because of the network's errors. */
export const activeHolds = (db: Db, now: Date): Promise<ActiveHold[]> =>
  db.rows(
    `select subject_id as id, until, error ->> 'title' as title, error -> 'code' as code from sending_holds
     where until > $1 order by until`,
    [now],
  )

export interface ActiveHold {
  id: string
  until: Date
  title: string | null
  code: MessageError['code']
}

/** Ends holds, because the network accepted a message. */
export const dropHolds = (db: Db, subjectIds: readonly string[]): Promise<number> =>
  db.change('delete from sending_holds where subject_id = any($1::uuid[])', [subjectIds])

/** Holds all waiting messages from a sender to one recipient. */
export const holdPair = (db: Db, senderId: string, recipient: string, until: Date): Promise<number> =>
  db.change(
    `update outbox set due_at = $3
     where state = 'waiting' and sender_id = $1 and recipient = $2 and due_at < $3`,
    [senderId, recipient, until],
  )
