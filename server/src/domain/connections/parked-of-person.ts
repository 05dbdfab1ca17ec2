/** What parked updates say about a person. An update may also be about others, whose messages stay. */
import type { Db } from '../../db/db.ts'
import {
  type PersonIds,
  patternsNaming,
  type SplitByPerson,
  splitByPerson,
} from '../../whatsapp/incoming/split-by-person.ts'
import { deleteParked, type ParkedText, parkedNaming, replaceParked } from './parked-of-person.sql.ts'

/** Updates in memory at a time. One has at most a few hundred kilobytes. */
const pageSize = 20
const first = '00000000-0000-0000-0000-000000000000'

/** The parked updates that are about a person, each in two parts: about them, and the rest. */
export async function* parkedOfPerson(
  db: Db,
  workspaceId: string,
  person: PersonIds,
): AsyncGenerator<ParkedText & SplitByPerson> {
  const patterns = patternsNaming(person)
  for (let after = first; ; ) {
    const page = await parkedNaming(db, workspaceId, patterns, after, pageSize)
    for (const parked of page) {
      const parts = splitByPerson(parked.webhook, person)
      if (parts.about !== null) yield { ...parked, ...parts }
    }
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.id
  }
}

/** Removes the person from parked updates, and returns how many there were. */
export async function eraseParked(tx: Db, workspaceId: string, person: PersonIds): Promise<number> {
  let changed = 0
  for await (const { rest, ...parked } of parkedOfPerson(tx, workspaceId, person)) {
    changed += rest === null ? await deleteParked(tx, parked) : await replaceParked(tx, parked, rest)
  }
  return changed
}
