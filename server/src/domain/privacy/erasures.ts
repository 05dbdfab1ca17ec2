/** Erasures as people ask for them and see them. */
import type { Erasure, NamedContact } from '@parley/contract/console/erasures'
import type { Db } from '../../db/db.ts'
import { refuse, refuseParam } from '../../lib/refuse.ts'
import { countQueued, type KnownPerson, type NamedPerson } from '../messages/privacy/person.ts'
import { type ErasureRow, erasureById, newestErasures, openErasureOf } from './erasures.sql.ts'

/** How many are listed. They say when and by whom, so the latest are enough. */
const listedMax = 50

export function readNamed({ phone, user_id: userId }: NamedContact): NamedPerson {
  if (phone !== undefined && userId === undefined) return { number: phone.replace(/^\+/, '') }
  if (phone === undefined && userId !== undefined) return { userId }
  return refuseParam('phone', 'invalid', 'Enter a phone number or a user ID, and not both.')
}

export async function listErasures(db: Db, workspaceId: string): Promise<Erasure[]> {
  const erasures: Erasure[] = []
  for (const row of await newestErasures(db, workspaceId, listedMax)) erasures.push(await toErasure(db, row))
  return erasures
}

export const requireErasure = async (db: Db, id: string): Promise<Erasure> =>
  toErasure(db, (await erasureById(db, id)) ?? refuse('not_found'))

/** The erasure of a person that is in progress, if there is one. */
export async function findOpenErasure(
  db: Db,
  workspaceId: string,
  person: NamedPerson,
): Promise<{ askedAt: Date; waits: boolean } | null> {
  const row = await openErasureOf(db, workspaceId, 'number' in person ? person.number : person.userId)
  return row ? { askedAt: row.askedAt, waits: await doesWait(db, row) } : null
}

/** Whether a message to the person is queued: the erasure continues when it is sent or has failed. */
const doesWait = async (db: Db, row: ErasureRow): Promise<boolean> =>
  (await countQueued(db, knownOf(row), row.askedAt)) > 0

/** What is known of a person: at first, only the number or the user ID that they were named with. */
export const knownOf = ({
  workspaceId,
  number,
  userId,
  numbers,
  userIds,
}: Pick<ErasureRow, 'workspaceId' | 'number' | 'userId' | 'numbers' | 'userIds'>): KnownPerson => ({
  workspaceId,
  isNumber: number !== null,
  numbers: numbers ?? (number === null ? [] : [number]),
  userIds: userIds ?? (userId === null ? [] : [userId]),
})

const toErasure = async (db: Db, row: ErasureRow): Promise<Erasure> => ({
  id: row.id,
  asked_by: row.askedBy,
  asked_at: row.askedAt.toISOString(),
  ended_at: row.endedAt?.toISOString() ?? null,
  waits: row.endedAt === null && (await doesWait(db, row)),
  removed: row.removed,
})
