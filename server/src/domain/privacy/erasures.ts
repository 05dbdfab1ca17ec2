/** Erasures as people ask for them and see them. */
import type { Erasure, NamedContact } from '@parley/contract/console/erasures'
import type { Db } from '../../db/db.ts'
import { refuse, refuseParam } from '../../lib/refuse.ts'
import type { NamedPerson } from '../messages/privacy/person.ts'
import { type ErasureRow, erasureById, newestErasures } from './erasures.sql.ts'

/** How many are listed. They say when and by whom, so the latest are enough. */
const listedMax = 50

export function readNamed({ phone, user_id: userId }: NamedContact): NamedPerson {
  if (phone !== undefined && userId === undefined) return { number: phone.replace(/^\+/, '') }
  if (phone === undefined && userId !== undefined) return { userId }
  return refuseParam('phone', 'invalid', 'Enter a phone number or a user ID, and not both.')
}

export const listErasures = async (db: Db, workspaceId: string): Promise<Erasure[]> =>
  (await newestErasures(db, workspaceId, listedMax)).map(toErasure)

export const requireErasure = async (db: Db, id: string): Promise<Erasure> =>
  toErasure((await erasureById(db, id)) ?? refuse('not_found'))

const toErasure = ({ id, askedBy, askedAt, endedAt, removed }: ErasureRow): Erasure => ({
  id,
  asked_by: askedBy,
  asked_at: askedAt.toISOString(),
  ended_at: endedAt?.toISOString() ?? null,
  removed,
})
