import { LinkReply, NextStep, SessionReply } from '@parley/contract/console/session'
import { Type } from 'typebox'
import {
  type AuditedAction,
  type ConsoleContext,
  type ConsoleRoute,
  openRoute,
  personRoute,
} from '../../http/console/route.ts'
import { Nothing, Strict } from '../../http/console/shapes.ts'
import type { SecretKeys } from '../../lib/seal.ts'
import { accountFor, type FollowedLink, followLink, readLink } from './links.ts'
import { listMemberships } from './members.ts'
import { listPasskeys, passkeySignInOptions } from './passkeys.ts'
import { endSession } from './sessions.ts'
import { type Step, secondFactor, signIn, signInByPasskey, startSession, verifyIdentity } from './sign-in.ts'

export interface PeopleDeps {
  secretKeys(): SecretKeys
  publicUrl: string
  simulatorUrl: string | null
  version: string
}

const Secret = Type.String({ minLength: 1, maxLength: 1000 })

/** Sign in, sign out, and use a link. */
export const signInRoutes = (deps: PeopleDeps): ConsoleRoute[] => [
  personRoute({
    method: 'GET',
    path: '/session',
    who: 'person',
    reply: SessionReply,
    async handle({ db, person }) {
      const [memberships, passkeys] = [
        await listMemberships(db, person.personId),
        await listPasskeys(db, person.personId),
      ]
      return {
        person: {
          id: person.personId,
          name: person.name,
          email: person.email,
          has_password: person.hasPassword,
          two_factor: person.twoFactor,
          passkeys: passkeys.length,
          operator: person.operator,
        },
        workspaces: memberships.map(({ id, name, role, requires_two_factor, suspended_at, suspended_reason }) => ({
          id,
          name,
          role,
          requires_two_factor,
          suspended: suspended_at !== null,
          suspended_reason,
        })),
        session: { id: person.sessionId, confirmed_until: person.confirmedUntil?.toISOString() ?? null },
        public_url: deps.publicUrl,
        simulator_url: deps.simulatorUrl,
        version: deps.version,
      }
    },
  }),
  openRoute({
    method: 'POST',
    path: '/sign-in',
    body: Strict({ email: Type.String({ maxLength: 1000 }), password: Secret }),
    reply: NextStep,
    ownTransactions: true,
    handle: async (context, { body }) =>
      finishStep(context, await signIn(context.db, context.clock, body, browserOf(context)), 'password'),
  }),
  openRoute({
    method: 'POST',
    path: '/sign-in/code',
    body: Strict({ code: Secret, kind: Type.Unsafe<'totp' | 'backup'>(Type.String({ enum: ['totp', 'backup'] })) }),
    reply: NextStep,
    ownTransactions: true,
    async handle(context, { body }) {
      const { db, clock, cookie } = context
      const done = await secondFactor(db, clock, deps.secretKeys(), cookie('step'), body, browserOf(context))
      return finishStep(context, done, `password and ${body.kind === 'totp' ? 'app' : 'backup code'}`)
    },
  }),
  openRoute({
    method: 'POST',
    path: '/sign-in/passkey/options',
    reply: Type.Unknown(),
    unaudited: 'only returns options',
    async handle({ db, clock, setCookie }) {
      const { options, token } = await passkeySignInOptions(db, clock, deps)
      setCookie('step', token)
      return options
    },
  }),
  openRoute({
    method: 'POST',
    path: '/sign-in/passkey',
    body: Strict({ response: Type.Record(Type.String(), Type.Unknown()) }),
    reply: NextStep,
    ownTransactions: true,
    async handle(context, { body }) {
      const { db, clock, cookie } = context
      const done = await signInByPasskey(db, clock, deps, cookie('step'), body.response, browserOf(context))
      return finishStep(context, done, 'passkey')
    },
  }),
  personRoute({
    method: 'POST',
    path: '/sign-out',
    who: 'person',
    reply: Nothing,
    status: 204,
    async handle({ db, person, setCookie, audit }) {
      await endSession(db, person.personId, person.sessionId)
      setCookie('session', null)
      await audit({ action: 'session.end' })
      return null
    },
  }),
  openRoute({
    method: 'GET',
    path: '/links/:token',
    params: Strict({ token: Secret }),
    reply: LinkReply,
    async handle({ db, clock }, { params }) {
      const { kind, email, person_email, workspace_name, role, hasAccount, expires_at } = await readLink(
        db,
        clock,
        params.token,
      )
      const expiresAt = expires_at.toISOString()
      return {
        kind,
        email: email ?? person_email,
        workspace_name,
        role,
        has_account: hasAccount,
        expires_at: expiresAt,
      }
    },
  }),
  openRoute({
    method: 'POST',
    path: '/links/:token',
    params: Strict({ token: Secret }),
    body: Strict({
      name: Type.Optional(Type.String({ maxLength: 1000 })),
      email: Type.Optional(Type.String({ maxLength: 1000 })),
      password: Secret,
    }),
    reply: NextStep,
    ownTransactions: true,
    async handle(context, { params, body }) {
      const { db, clock } = context
      const existing = await accountFor(db, await readLink(db, clock, params.token), body.email)
      const given = { password: body.password }
      if (existing) await verifyIdentity(db, clock, deps.secretKeys(), existing, given, browserOf(context))
      const step = await db.transaction(async (tx) => {
        const followed = await followLink(tx, clock, params.token, body, existing ?? null)
        await context.audit(auditedActionOf(followed), tx)
        return startSession(tx, clock, followed.person, browserOf(context))
      })
      return setCookies(context, step)
    },
  }),
]

export const browserOf = ({ address, userAgent }: ConsoleContext) => ({ address, userAgent })

/** Audits a step of signing in and sets its cookies. */
async function finishStep(context: ConsoleContext, step: Step, by: string): Promise<NextStep> {
  const { id: personId, email } = step.person
  const action = step.kind === 'done' ? 'session.begin' : 'session.first_factor'
  await context.audit({ action, after: { by }, by: { personId, email } })
  return setCookies(context, step)
}

function setCookies({ setCookie }: ConsoleContext, step: Step): NextStep {
  if (step.kind === 'second_factor') setCookie('step', step.stepToken)
  else {
    setCookie('session', step.sessionToken)
    setCookie('step', null)
  }
  return { next: step.kind }
}

/** The audit entry for using a link. That it also signs the person in is not recorded separately. */
function auditedActionOf({ link, person, recovered }: FollowedLink): AuditedAction {
  const { kind, role, operator, workspace_id: workspaceId } = link
  const who = { by: { personId: person.id, email: person.email }, target: person.id, targetName: person.email }
  if (kind === 'reset') {
    const ended = { passkeys_removed: recovered?.passkeysRemoved, sessions_ended: recovered?.sessionsEnded }
    return { action: 'account.password', after: { by: 'reset link', ...ended }, ...who }
  }
  if (kind === 'invite') return { action: 'member.join', after: { role }, workspaceId, ...who }
  return { action: 'account.setup', after: { operator, role }, workspaceId, ...who }
}
