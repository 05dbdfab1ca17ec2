/** What parked updates say about a person. An update may also be about others, whose messages stay. */
import type { Db } from '../../db/db.ts'
import { type PersonIds, splitEach } from '../../whatsapp/incoming/split-by-person.ts'
import { deleteParked, parkedNaming, replaceParked } from './parked-of-person.sql.ts'

/** The parked updates that are about a person, each in two parts: about them, and the rest. */
export const parkedOfPerson = (db: Db, workspaceId: string, person: PersonIds) =>
  splitEach(person, (patterns, afterId, take) => parkedNaming(db, workspaceId, patterns, afterId, take))

/** Removes the person from parked updates, and returns how many there were. */
export async function eraseParked(tx: Db, workspaceId: string, person: PersonIds): Promise<number> {
  let changed = 0
  for await (const { rest, ...parked } of parkedOfPerson(tx, workspaceId, person)) {
    changed += rest === null ? await deleteParked(tx, parked) : await replaceParked(tx, parked, rest)
  }
  return changed
}
