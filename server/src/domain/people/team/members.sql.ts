import { type Role, roles } from '@parley/contract/console/permissions'
import type { Db } from '../../../db/db.ts'

export interface MemberRow {
  person_id: string
  email: string
  email_verified: boolean
  name: string
  role: Role
  two_factor: boolean
  created_at: Date
  last_seen_at: Date | null
}

export interface MembershipRow {
  id: string
  name: string
  role: Role
  suspended_at: Date | null
  suspended_reason: string | null
  requires_two_factor: boolean
}

const memberships = `select w.id, w.name, m.role, w.suspended_at, w.suspended_reason, w.requires_two_factor
  from memberships m join workspaces w on w.id = m.workspace_id where m.person_id = $1`

export const listMemberships = (db: Db, personId: string): Promise<MembershipRow[]> =>
  db.rows(`${memberships} order by w.name, w.id`, [personId])

export const membershipRow = (db: Db, personId: string, workspaceId: string): Promise<MembershipRow | undefined> =>
  db.first(`${memberships} and m.workspace_id = $2`, [personId, workspaceId])

export const membersOf = (db: Db, workspaceId: string): Promise<MemberRow[]> =>
  db.rows(
    `select m.person_id, p.email, p.name, m.role, m.created_at,
       p.email_verified_at is not null as email_verified, p.totp_confirmed_at is not null as two_factor,
       (select max(last_seen_at) from sessions s where s.person_id = p.id) as last_seen_at
     from memberships m join people p on p.id = m.person_id
     where m.workspace_id = $1 order by m.created_at, m.person_id`,
    [workspaceId],
  )

/** Blocks other changes to the members of a workspace until the transaction ends. */
export const lockMembers = (db: Db, workspaceId: string): Promise<unknown> =>
  db.rows('select 1 from memberships where workspace_id = $1 order by person_id for update', [workspaceId])

export const upsertMember = (db: Db, workspaceId: string, personId: string, role: Role, at: Date): Promise<number> =>
  db.change(
    `insert into memberships (workspace_id, person_id, role, created_at) values ($1, $2, $3, $4)
     on conflict (workspace_id, person_id) do update set role = excluded.role`,
    [workspaceId, personId, role, at],
  )

/** Adds a member with the role, or raises the role of a member. Returns the role they have then. */
export const addOrRaiseMember = async (
  db: Db,
  workspaceId: string,
  personId: string,
  role: Role,
  at: Date,
): Promise<Role> => {
  const row = await db.first<{ role: Role }>(
    `insert into memberships as m (workspace_id, person_id, role, created_at) values ($1, $2, $3, $4)
     on conflict (workspace_id, person_id) do update
       set role = case when array_position($5::text[], excluded.role) < array_position($5::text[], m.role)
         then excluded.role else m.role end
     returning role`,
    [workspaceId, personId, role, at, roles],
  )
  return row?.role ?? role
}

export const deleteMember = (db: Db, workspaceId: string, personId: string): Promise<number> =>
  db.change('delete from memberships where workspace_id = $1 and person_id = $2', [workspaceId, personId])

export const countMembers = (db: Db): Promise<{ workspaceId: string; count: number }[]> =>
  db.rows('select workspace_id as "workspaceId", count(*) from memberships group by 1')

/** Whether there is a second member, or an invitation that is still open. */
export const hasTeammates = async (db: Db, workspaceId: string, now: Date): Promise<boolean> =>
  (
    await db.first<{ yes: boolean }>(
      `select (select count(*) from memberships where workspace_id = $1) > 1
         or exists (select 1 from links where workspace_id = $1 and kind = 'invite' and used_at is null
           and expires_at > $2) as yes`,
      [workspaceId, now],
    )
  )?.yes === true
