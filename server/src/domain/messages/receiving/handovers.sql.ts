import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'
import { type KnownPerson, personValues } from '../../../whatsapp/incoming/split-by-person.ts'

export interface Handover {
  senderId: string
  person: string
  occurredAt: Date
  change: 'passed' | 'taken'
  workspaceId: string
  userId: string | null
  previousOwner: string | null
  newOwner: string | null
}

/** Stores handovers and returns the new ones. */
export const insertHandovers = statement(
  {
    handovers: {
      senderId: 'uuid',
      person: 'text',
      occurredAt: 'timestamptz',
      change: 'text',
      workspaceId: 'uuid',
      userId: 'text',
      previousOwner: 'text',
      newOwner: 'text',
    },
  },
  ({ handovers }) => `insert into handovers (${handovers.columns})
     select * from ${handovers} order by handovers.sender_id, handovers.person, handovers.occurred_at, handovers.change
     on conflict do nothing
     returning sender_id as "senderId", person, occurred_at as "occurredAt", change, workspace_id as "workspaceId",
       user_id as "userId", previous_owner as "previousOwner", new_owner as "newOwner"`,
).rows<Handover>

export type LastHandover = Pick<Handover, 'senderId' | 'change' | 'previousOwner' | 'newOwner' | 'occurredAt'>

/** The last handover of the conversation of each sender with a person. */
export const lastHandovers = (
  db: Db,
  workspaceId: string,
  senderIds: readonly string[],
  personIds: readonly string[],
): Promise<LastHandover[]> =>
  db.rows(
    `select distinct on (sender_id) sender_id as "senderId", change, previous_owner as "previousOwner",
       new_owner as "newOwner", occurred_at as "occurredAt"
     from handovers
     where workspace_id = $1 and sender_id = any($2::uuid[]) and person = any($3::text[])
     order by sender_id, occurred_at desc, change desc`,
    [workspaceId, senderIds, personIds],
  )

/** The condition for a row of a table with a person and a user ID. Few people have one, so no index is needed. */
export const isOfPerson = `workspace_id = $1 and ((person = any($2::text[]) and ($4 or user_id is null))
    or person = any($3::text[]) or (not $4 and user_id = any($3::text[])))`

export const handoversOf = (db: Db, person: KnownPerson) =>
  db.rows<{ sender_id: string; change: string; occurred_at: Date }>(
    `select sender_id, change, previous_owner, new_owner, occurred_at from handovers where ${isOfPerson}
     order by occurred_at, sender_id`,
    personValues(person),
  )

export const deleteHandoversOf = (db: Db, person: KnownPerson): Promise<number> =>
  db.change(`delete from handovers where ${isOfPerson}`, personValues(person))
