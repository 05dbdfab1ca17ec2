import type { Db } from '../../../db/db.ts'
import { statement } from '../../../db/statement.ts'
import { type KnownPerson, personValues } from '../../../whatsapp/incoming/split-by-person.ts'
import { isOfPerson } from './handovers.sql.ts'

/** Stores under which names the business saved people. An older change does not replace a newer one. */
export const saveContacts = statement(
  {
    contacts: {
      senderId: 'uuid',
      person: 'text',
      workspaceId: 'uuid',
      userId: 'text',
      name: 'text',
      changedAt: 'timestamptz',
    },
  },
  ({ contacts }) => `insert into saved_contacts as c (${contacts.columns})
     select distinct on (contacts.sender_id, contacts.person) contacts.* from ${contacts}
     order by contacts.sender_id, contacts.person, contacts.changed_at desc
     on conflict (sender_id, person) do update set user_id = coalesce(excluded.user_id, c.user_id), name = excluded.name,
       changed_at = excluded.changed_at
     where c.changed_at <= excluded.changed_at`,
).change

/** The name under which the business saved a person last. Null if it did not. */
export const savedName = async (db: Db, workspaceId: string, personIds: readonly string[]): Promise<string | null> =>
  (
    await db.first<{ name: string }>(
      `select name from saved_contacts where workspace_id = $1 and person = any($2::text[]) and name is not null
       order by changed_at desc limit 1`,
      [workspaceId, personIds],
    )
  )?.name ?? null

export const savedContactsOf = (db: Db, person: KnownPerson) =>
  db.rows<{ sender_id: string; name: string | null; changed_at: Date }>(
    `select sender_id, name, changed_at from saved_contacts where ${isOfPerson} order by changed_at, sender_id`,
    personValues(person),
  )

export const deleteSavedContactsOf = (db: Db, person: KnownPerson): Promise<number> =>
  db.change(`delete from saved_contacts where ${isOfPerson}`, personValues(person))
