import type { Role } from '@parley/contract/console/permissions'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { refuse } from '../../lib/refuse.ts'
import {
  deleteMember,
  lockMembers,
  type MemberRow,
  membersOf,
  type PlaceRow,
  placeOf,
  placesOf,
  upsertMember,
} from './members.sql.ts'

export { countMembers, hasCompany } from './members.sql.ts'
export type { MemberRow as Member, PlaceRow as Place }

export const listPlaces = (db: Db, personId: string): Promise<PlaceRow[]> => placesOf(db, personId)

/** What a person is in a workspace, if anything. */
export async function membershipOf(db: Db, personId: string, workspaceId: string) {
  const place = await placeOf(db, personId, workspaceId)
  return place ? { role: place.role, requiresTwoFactor: place.requires_two_factor } : null
}

export const listMembers = (db: Db, workspaceId: string): Promise<MemberRow[]> => membersOf(db, workspaceId)

export async function addMember(
  db: Db,
  clock: Clock,
  workspaceId: string,
  personId: string,
  role: Role,
): Promise<void> {
  await upsertMember(db, workspaceId, personId, role, clock.now())
  db.notify(workspaceId, 'team')
}

/** Inside of a transaction. A workspace keeps at least one admin. */
export async function changeRole(
  db: Db,
  clock: Clock,
  workspaceId: string,
  personId: string,
  role: Role,
): Promise<{ before: MemberRow }> {
  const before = await requireMember(db, workspaceId, personId, role !== 'admin')
  await upsertMember(db, workspaceId, personId, role, clock.now())
  db.notify(workspaceId, 'team')
  return { before }
}

export async function removeMember(db: Db, workspaceId: string, personId: string): Promise<{ before: MemberRow }> {
  const before = await requireMember(db, workspaceId, personId, true)
  await deleteMember(db, workspaceId, personId)
  db.notify(workspaceId, 'team')
  return { before }
}

async function requireMember(db: Db, workspaceId: string, personId: string, leavesAdmins: boolean): Promise<MemberRow> {
  await lockMembers(db, workspaceId)
  const members = await membersOf(db, workspaceId)
  const member = members.find(({ person_id }) => person_id === personId) ?? refuse('not_found')
  const admins = members.filter(({ role }) => role === 'admin')
  if (leavesAdmins && member.role === 'admin' && admins.length === 1) {
    refuse('conflict', { message: 'This is the last admin. Make somebody else an admin first.' })
  }
  return member
}
