import { OperatedPerson } from '@parley/contract/console/operator'
import { CreatedLink } from '@parley/contract/console/team'
import { Uuid } from '@parley/contract/ids'
import { List } from '@parley/contract/page'
import { Type } from 'typebox'
import { type ConsoleRoute, operatorRoute } from '../../../http/console/route.ts'
import { ById, Strict } from '../../../http/console/shapes.ts'
import { unpagedList } from '../../../http/page.ts'
import { newResetLink } from '../links/links.ts'
import { resetMail, type ShareDeps, shareInvitation, shareLink } from '../links/mail-links.ts'
import { listPeople, requirePerson } from '../people.ts'
import { removePasskey } from '../sign-in/passkeys.ts'
import { inviteToTeam } from '../team/invite.ts'
import { disablePerson, enablePerson } from './operators.ts'

/** For operators: list all people, invite the first admin of a workspace, create password reset links, disable accounts. */
export const operatorPeopleRoutes = (deps: ShareDeps): ConsoleRoute[] => [
  operatorRoute({
    method: 'GET',
    path: '/operator/people',
    reply: List(OperatedPerson),
    handle: async ({ db }) =>
      unpagedList(
        (await listPeople(db)).map((each) => ({
          id: each.id,
          email: each.email,
          email_verified: each.email_verified_at !== null,
          name: each.name,
          operator: each.operator,
          two_factor: each.totp_confirmed_at !== null,
          passkeys: each.passkeys,
          workspaces: each.memberships.map(({ workspace_id: id, workspace: name, role }) => ({ id, name, role })),
          created_at: each.created_at.toISOString(),
          last_seen_at: each.last_seen_at?.toISOString() ?? null,
          disabled_at: each.disabled_at?.toISOString() ?? null,
        })),
      ),
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/people/:id/reset-link',
    confirmed: true,
    params: ById,
    reply: CreatedLink,
    status: 201,
    async handle({ db, clock, person, audit }, { params }) {
      const target = await requirePerson(db, params.id)
      const token = await newResetLink(db, clock, target, person.email, deps.mail !== null)
      await audit({ action: 'person.reset_link', target: target.id, targetName: target.email })
      return shareLink(db, clock, deps, resetMail(clock, target.email, token))
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/people/:id/disable',
    confirmed: true,
    params: ById,
    async handle({ db, clock, audit }, { params }) {
      const { id, email } = await requirePerson(db, params.id)
      const { sessionsEnded } = await disablePerson(db, clock, id)
      const after = { sessions_ended: sessionsEnded }
      await audit({ action: 'person.disable', target: id, targetName: email, after })
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/people/:id/enable',
    confirmed: true,
    params: ById,
    async handle({ db, audit }, { params }) {
      const { id, email } = await requirePerson(db, params.id)
      await enablePerson(db, id)
      await audit({ action: 'person.enable', target: id, targetName: email })
    },
  }),
  operatorRoute({
    method: 'DELETE',
    path: '/operator/people/:id/passkeys/:passkey',
    confirmed: true,
    params: Strict({ id: Uuid, passkey: Uuid }),
    async handle({ db, audit }, { params }) {
      const { id, email } = await requirePerson(db, params.id)
      const { name } = await removePasskey(db, id, params.passkey)
      const before = { passkey: params.passkey, name }
      await audit({ action: 'person.passkey_remove', target: id, targetName: email, before })
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/operator/workspaces/:id/invites',
    confirmed: true,
    params: ById,
    body: Type.Object({ email: Type.String({ maxLength: 1000 }) }, { additionalProperties: false }),
    reply: CreatedLink,
    status: 201,
    async handle({ db, clock, person, audit }, { params, body }) {
      const input = { workspaceId: params.id, email: body.email, role: 'admin', createdBy: person.email } as const
      const invitation = await inviteToTeam(db, clock, { ...input, mailed: deps.mail !== null })
      const { id, email } = invitation
      const after = { role: input.role }
      await audit({ action: 'invite.create', target: id, targetName: email, after, workspaceId: params.id })
      return shareInvitation(db, clock, deps, invitation, input)
    },
  }),
]
