/** What network updates say about a person. An update may also be about others, whose part stays. */
import type { Db } from '../../db/db.ts'
import {
  type PersonIds,
  patternsNaming,
  type SplitByPerson,
  splitByPerson,
} from '../../whatsapp/incoming/split-by-person.ts'
import { deleteUpdates, replaceWebhook, type UpdateRow, updatesNaming } from './updates.sql.ts'

/** Updates in memory at a time. One has at most a few hundred kilobytes. */
const pageSize = 20
const first = '00000000-0000-0000-0000-000000000000'

export async function* updatesOfPerson(
  db: Db,
  workspaceId: string,
  person: PersonIds,
  lock: '' | 'for update' = '',
): AsyncGenerator<UpdateRow & SplitByPerson> {
  const patterns = patternsNaming(person)
  for (let after = first; ; ) {
    const page = await updatesNaming(db, workspaceId, patterns, after, pageSize, lock)
    for (const update of page) {
      const parts = splitByPerson(update.webhook, person)
      if (parts.about !== null) yield { ...update, ...parts }
    }
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.id
  }
}

/** Removes the person from updates, and returns how many there were. */
export async function eraseUpdates(tx: Db, workspaceId: string, person: PersonIds): Promise<number> {
  let changed = 0
  for await (const { id, rest } of updatesOfPerson(tx, workspaceId, person, 'for update')) {
    changed += rest === null ? await deleteUpdates(tx, [id]) : await replaceWebhook(tx, id, rest)
  }
  return changed
}
