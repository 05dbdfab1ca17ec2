import type { Role } from '@parley/contract/console/permissions'
import { RoleName } from '@parley/contract/console/session'
import { CreatedLink, Team, TeamFilters } from '@parley/contract/console/team'
import { Type } from 'typebox'
import { csvRoute } from '../../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../../http/console/route.ts'
import { ById, Strict } from '../../../http/console/shapes.ts'
import { isoTimes } from '../../../lib/iso-times.ts'
import { endInvite, listInvites } from '../links/links.ts'
import { type ShareDeps, shareInvitation } from '../links/mail-links.ts'
import { inviteToTeam } from './invite.ts'
import { changeRole, exportMembers, listMembers, removeMember } from './members.ts'

/** The members of a workspace and their invitations. */
export const teamRoutes = (deps: ShareDeps): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/team',
    who: 'team:read',
    reply: Team,
    async handle({ db, clock, workspaceId, person }) {
      const members = await listMembers(db, workspaceId)
      const invites = await listInvites(db, clock, workspaceId)
      return {
        members: members.map(({ person_id: id, ...member }) => ({
          ...isoTimes(member),
          id,
          is_you: id === person.personId,
        })),
        invites: invites.map((each) => ({ ...isoTimes(each), email: each.email ?? '', role: each.role as Role })),
      }
    },
  }),
  csvRoute({
    path: '/team',
    who: 'team:read',
    query: TeamFilters,
    lines: ({ db, workspaceId }, filters) => exportMembers(db, workspaceId, filters),
  }),
  workspaceRoute({
    method: 'POST',
    path: '/team/invites',
    who: 'team:manage',
    confirmed: true,
    body: Strict({ email: Type.String({ maxLength: 1000 }), role: RoleName }),
    reply: CreatedLink,
    status: 201,
    async handle({ db, clock, workspaceId, person, audit }, { body }) {
      const input = { workspaceId, email: body.email, role: body.role, createdBy: person.email }
      const invitation = await inviteToTeam(db, clock, { ...input, mailed: deps.mail !== null })
      const { id, email } = invitation
      await audit({ action: 'invite.create', target: id, targetName: email, after: { role: body.role } })
      return shareInvitation(db, clock, deps, invitation, input)
    },
  }),
  workspaceRoute({
    method: 'DELETE',
    path: '/team/invites/:id',
    who: 'team:manage',
    params: ById,
    async handle({ db, clock, workspaceId, audit }, { params }) {
      const { email, role } = await endInvite(db, clock, workspaceId, params.id)
      await audit({ action: 'invite.withdraw', target: params.id, targetName: email, before: { role } })
    },
  }),
  workspaceRoute({
    method: 'PATCH',
    path: '/team/members/:id',
    who: 'team:manage',
    confirmed: true,
    params: ById,
    body: Strict({ role: RoleName }),
    async handle({ db, clock, workspaceId, audit }, { params, body }) {
      const { email, role } = await changeRole(db, clock, workspaceId, params.id, body.role)
      const after = { role: body.role }
      await audit({ action: 'member.role', target: params.id, targetName: email, before: { role }, after })
    },
  }),
  workspaceRoute({
    method: 'DELETE',
    path: '/team/members/:id',
    who: 'team:manage',
    confirmed: true,
    params: ById,
    async handle({ db, workspaceId, audit }, { params }) {
      const { email, role } = await removeMember(db, workspaceId, params.id)
      await audit({ action: 'member.remove', target: params.id, targetName: email, before: { role } })
    },
  }),
  workspaceRoute({
    method: 'POST',
    path: '/team/leave',
    who: 'team:read',
    async handle({ db, workspaceId, person, audit }) {
      const { email } = await removeMember(db, workspaceId, person.personId)
      await audit({ action: 'member.leave', target: person.personId, targetName: email })
    },
  }),
]
