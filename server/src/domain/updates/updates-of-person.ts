/** What network updates say about a person. An update may also be about others, whose part stays. */
import type { Db } from '../../db/db.ts'
import { type PersonIds, splitEach } from '../../whatsapp/incoming/split-by-person.ts'
import { deleteUpdates, replaceWebhook, updatesNaming } from './updates.sql.ts'

export const updatesOfPerson = (db: Db, workspaceId: string, person: PersonIds, lock: '' | 'for update' = '') =>
  splitEach(person, (patterns, afterId, take) => updatesNaming(db, workspaceId, patterns, afterId, take, lock))

/** Removes the person from updates, and returns how many there were. */
export async function eraseUpdates(tx: Db, workspaceId: string, person: PersonIds): Promise<number> {
  let changed = 0
  for await (const { id, rest } of updatesOfPerson(tx, workspaceId, person, 'for update')) {
    changed += rest === null ? await deleteUpdates(tx, [id]) : await replaceWebhook(tx, id, rest)
  }
  return changed
}
