/** What parked updates say about a person. An update may also be about others, whose messages stay. */
import type { Db } from '../../db/db.ts'
import { type PersonIds, withoutPerson } from '../../whatsapp/without-person.ts'
import { deleteParked, type ParkedText, parkedNaming, replaceParked } from './parked-of-person.sql.ts'

/** Updates in memory at a time. One has at most a few hundred kilobytes. */
const pageSize = 20
const first = '00000000-0000-0000-0000-000000000000'

/** The parked updates that name a person, by number or user ID. */
export async function* parkedOfPerson(db: Db, workspaceId: string, ids: readonly string[]): AsyncGenerator<ParkedText> {
  for (let after = first; ; ) {
    const page = await parkedNaming(db, workspaceId, ids, after, pageSize)
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.id
  }
}

/** Removes the person from parked updates, and returns how many there were. */
export async function eraseParked(tx: Db, workspaceId: string, person: PersonIds): Promise<number> {
  let changed = 0
  const ids = [...person.numbers, ...person.userIds]
  for await (const parked of parkedOfPerson(tx, workspaceId, ids)) {
    const rest = withoutPerson(parked.webhook, person)
    if (rest === parked.webhook) continue
    changed += rest === null ? await deleteParked(tx, parked) : await replaceParked(tx, parked, rest)
  }
  return changed
}
