import type { Role } from '@parley/contract/console/permissions'
import type { TeamFilters } from '@parley/contract/console/team'
import type { Db } from '../../../db/db.ts'
import type { Clock } from '../../../lib/clock.ts'
import { exportAll } from '../../../lib/csv-export.ts'
import { isoTimes } from '../../../lib/iso-times.ts'
import { hasText, isOneOf } from '../../../lib/list-filters.ts'
import { refuse } from '../../../lib/refuse.ts'
import { endStreams } from '../sign-in/sessions.ts'
import {
  addOrRaiseMember,
  deleteMember,
  lockMembers,
  type MemberRow,
  membershipRow,
  membersOf,
  upsertMember,
} from './members.sql.ts'

export { countMembers, hasTeammates, listMemberships } from './members.sql.ts'

/** The role of a person in a workspace; null if they are not a member. */
export async function membershipOf(db: Db, personId: string, workspaceId: string) {
  const row = await membershipRow(db, personId, workspaceId)
  return row ? { role: row.role, requiresTwoFactor: row.requires_two_factor } : null
}

export const listMembers = async (db: Db, workspaceId: string, { q, role }: TeamFilters = {}): Promise<MemberRow[]> =>
  (await membersOf(db, workspaceId)).filter(
    (member) => hasText(q, member.name, member.email) && isOneOf(role, member.role),
  )

export const exportMembers = (db: Db, workspaceId: string, filters: TeamFilters): AsyncIterable<string> =>
  exportAll({
    head: ['name', 'email', 'email_verified', 'role', 'two_factor', 'joined_at', 'last_seen_at'],
    rows: async () => (await listMembers(db, workspaceId, filters)).map(isoTimes),
    toLine: ({ name, email, email_verified, role, two_factor, created_at, last_seen_at }) => [
      name,
      email,
      email_verified,
      role,
      two_factor,
      created_at,
      last_seen_at,
    ],
  })

/**
 * Adds a member, or gives a member a higher role. It never lowers a role: an old invitation must not take rights away, and
 * a workspace keeps its last admin. Returns the role that the person has then.
 */
export async function addMember(
  db: Db,
  clock: Clock,
  workspaceId: string,
  personId: string,
  role: Role,
): Promise<Role> {
  const granted = await addOrRaiseMember(db, workspaceId, personId, role, clock.now())
  db.notify(workspaceId, 'team')
  return granted
}

/** Returns the member as before. Call it in a transaction. A workspace keeps at least one admin. */
export async function changeRole(
  db: Db,
  clock: Clock,
  workspaceId: string,
  personId: string,
  role: Role,
): Promise<MemberRow> {
  const before = await requireMember(db, workspaceId, personId, role !== 'admin')
  await upsertMember(db, workspaceId, personId, role, clock.now())
  db.notify(workspaceId, 'team')
  return before
}

export async function removeMember(db: Db, workspaceId: string, personId: string): Promise<MemberRow> {
  const before = await requireMember(db, workspaceId, personId, true)
  await deleteMember(db, workspaceId, personId)
  db.notify(workspaceId, 'team')
  endStreams(db, personId)
  return before
}

async function requireMember(db: Db, workspaceId: string, personId: string, losesAdmin: boolean): Promise<MemberRow> {
  await lockMembers(db, workspaceId)
  const members = await membersOf(db, workspaceId)
  const member = members.find(({ person_id }) => person_id === personId) ?? refuse('not_found')
  const admins = members.filter(({ role }) => role === 'admin')
  if (losesAdmin && member.role === 'admin' && admins.length === 1) {
    refuse('conflict', { message: 'This is the last admin. Make another member an admin first.' })
  }
  return member
}
