import { LinkReply, NextStep, SessionReply, SignInReply } from '@parley/contract/console/session'
import { Type } from 'typebox'
import { mustSetUpTwoFactor } from '../../../http/console/pipeline.ts'
import {
  type AuditedAction,
  type ConsoleContext,
  type ConsoleRoute,
  openRoute,
  personRoute,
} from '../../../http/console/route.ts'
import { Strict } from '../../../http/console/shapes.ts'
import { acceptInvite, type FollowedLink, readLink } from '../links/links.ts'
import { askForReset, type MailLinkDeps } from '../links/mail-links.ts'
import { signInWithLink } from '../links/sign-in-with-link.ts'
import { hasPeople, readTimeZone, requirePerson } from '../people.ts'
import { listMemberships, membershipOf } from '../team/members.ts'
import { type KnownBrowser, readKnownBrowser, rememberBrowser } from './known-browsers.ts'
import { listPasskeys, passkeyOptions } from './passkeys.ts'
import { endSession, sessionOf } from './sessions.ts'
import { type SigningIn, type Step, secondFactor, signIn, signInByPasskey } from './sign-in.ts'
import { newStrangerTries } from './sign-in-attempts.ts'

export interface PeopleDeps extends MailLinkDeps {
  publicUrl: string
  simulatorUrl: string | null
  simulatorPhone: string | null
  version: string
  operatorsNeedTwoFactor: boolean
}

const Secret = Type.String({ minLength: 1, maxLength: 1000 })

/** Sign in, sign out, and use a link. */
export function signInRoutes(deps: PeopleDeps): ConsoleRoute[] {
  const strangers = newStrangerTries()
  return [
    personRoute({
      method: 'GET',
      path: '/session',
      reply: SessionReply,
      async handle({ db, person }) {
        const memberships = await listMemberships(db, person.personId)
        const passkeys = await listPasskeys(db, person.personId)
        const timeZone = await readTimeZone(db, person.personId)
        return {
          person: {
            id: person.personId,
            name: person.name,
            email: person.email,
            time_zone: timeZone,
            has_password: person.hasPassword,
            two_factor: person.twoFactor,
            passkeys: passkeys.length,
            operator: person.operator,
            must_set_up_two_factor: mustSetUpTwoFactor(person, deps),
          },
          workspaces: memberships.map(({ suspended_at, ...membership }) => ({
            ...membership,
            suspended: suspended_at !== null,
          })),
          session: { id: person.sessionId, confirmed_until: person.confirmedUntil?.toISOString() ?? null },
          public_url: deps.publicUrl,
          simulator_url: deps.simulatorUrl,
          simulator_phone: deps.simulatorPhone,
          version: deps.version,
        }
      },
    }),
    openRoute({
      method: 'GET',
      path: '/sign-in',
      reply: SignInReply,
      handle: async ({ db }) => ({
        is_set_up: await hasPeople(db),
        public_url: deps.publicUrl,
        sends_mail: deps.mail !== null,
      }),
    }),
    openRoute({
      method: 'POST',
      path: '/sign-in',
      body: Strict({ email: Type.String({ maxLength: 1000 }), password: Secret }),
      reply: NextStep,
      ownTransactions: true,
      handle: async (context, { body }) =>
        setCookies(context, await signIn(context.db, context.clock, body, browserOf(context, 'password'))),
    }),
    openRoute({
      method: 'POST',
      path: '/sign-in/code',
      body: Strict({ code: Secret, kind: Type.Unsafe<'totp' | 'backup'>(Type.String({ enum: ['totp', 'backup'] })) }),
      reply: NextStep,
      ownTransactions: true,
      async handle(context, { body }) {
        const { db, clock, cookie } = context
        const by = `password and ${body.kind === 'totp' ? 'app' : 'backup code'}`
        const step = secondFactor(db, clock, deps.secretKeys(), cookie('step'), body, browserOf(context, by))
        return setCookies(context, await step)
      },
    }),
    openRoute({
      method: 'POST',
      path: '/sign-in/passkey/options',
      reply: Type.Unknown(),
      unaudited: 'only returns options',
      async handle({ db, clock, setCookie }) {
        const { options, token } = await passkeyOptions(db, clock, deps, null)
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
        const browser = browserOf(context, 'passkey')
        return setCookies(context, await signInByPasskey(db, clock, deps, cookie('step'), body.response, browser))
      },
    }),
    openRoute({
      method: 'POST',
      path: '/sign-in/reset',
      body: Strict({ email: Type.String({ maxLength: 1000 }) }),
      unaudited: 'anyone can ask for any address; using the link is audited',
      async handle({ db, clock }, { body }) {
        await askForReset(db, clock, deps, body.email)
      },
    }),
    personRoute({
      method: 'POST',
      path: '/sign-out',
      async handle({ db, person, setCookie, audit }) {
        await endSession(db, person.personId, person.sessionId)
        setCookie('session', null)
        await audit({ action: 'session.end' })
      },
    }),
    openRoute({
      method: 'POST',
      path: '/links/read',
      body: Strict({ token: Secret }),
      reply: LinkReply,
      unaudited: 'reads only; the token is in the body, because URLs are logged by proxies',
      async handle({ db, clock, cookie }, { body }) {
        const { email, person_email, expires_at, ...link } = await readLink(db, clock, body.token)
        const session = cookie('session')
        const person = session === undefined ? null : await sessionOf(db, clock, session, false)
        const isTheirs = person !== null && link.workspace_id !== null && person.email === email
        const membership = isTheirs ? await membershipOf(db, person.personId, link.workspace_id as string) : null
        return {
          kind: link.kind,
          email: email ?? person_email,
          workspace_id: link.workspace_id,
          workspace_name: link.workspace_name,
          role: link.role,
          expires_at: expires_at.toISOString(),
          signed_in_as: person?.email ?? null,
          current_role: membership?.role ?? null,
        }
      },
    }),
    personRoute({
      method: 'POST',
      path: '/links/accept',
      body: Strict({ token: Secret }),
      async handle({ db, clock, person, audit }, { body }) {
        const joined = await acceptInvite(db, clock, body.token, await requirePerson(db, person.personId))
        await audit(actionOfLink(joined))
      },
    }),
    openRoute({
      method: 'POST',
      path: '/links/use',
      body: Strict({
        token: Secret,
        name: Type.Optional(Type.String({ maxLength: 1000 })),
        email: Type.Optional(Type.String({ maxLength: 1000 })),
        password: Secret,
      }),
      reply: NextStep,
      ownTransactions: true,
      async handle(context, { body: { token, ...given } }) {
        const browser = browserOf(context, 'link and password')
        return setCookies(context, await signInWithLink(context.db, context.clock, token, given, browser))
      },
    }),
  ]

  /** What the attempts of this browser count against. Each step is audited; `by` says how the person signs in. */
  function browserOf(context: ConsoleContext, by: string): SigningIn {
    const { address, userAgent, client } = context
    const known = knownBrowserOf(context)
    const { operatorsNeedTwoFactor } = deps
    return { address, userAgent, client, known, strangers, operatorsNeedTwoFactor, onStep: audited(context, by) }
  }

  function knownBrowserOf({ cookie, clock }: ConsoleContext): KnownBrowser | null {
    return readKnownBrowser(deps.secretKeys(), cookie('browser'), clock.now())
  }

  function setCookies(context: ConsoleContext, step: Step): NextStep {
    const { setCookie, clock } = context
    if (step.kind === 'second_factor') setCookie('step', step.stepToken)
    else {
      setCookie('session', step.sessionToken)
      setCookie('step', null)
      setCookie('browser', rememberBrowser(deps.secretKeys(), knownBrowserOf(context), step.person.id, clock.now()))
    }
    return { next: step.kind }
  }
}

/** Audits a step in its transaction. That using a link also signs the person in is not recorded separately. */
const audited =
  (context: ConsoleContext, by: string): SigningIn['onStep'] =>
  (tx, step, followed) =>
    context.audit(followed ? actionOfLink(followed) : actionOfStep(step, by), tx)

const actionOfStep = ({ kind, person }: Step, by: string): AuditedAction => ({
  action: kind === 'done' ? 'session.begin' : 'session.first_factor',
  after: { by },
  by: { personId: person.id, email: person.email },
})

function actionOfLink({ link, person, role, recovered }: FollowedLink): AuditedAction {
  const { kind, operator, workspace_id: workspaceId } = link
  const who = { by: { personId: person.id, email: person.email }, target: person.id, targetName: person.email }
  if (kind === 'reset') {
    const ended = { passkeys_removed: recovered?.passkeysRemoved, sessions_ended: recovered?.sessionsEnded }
    return { action: 'account.password', after: { by: 'reset link', ...ended }, ...who }
  }
  if (kind === 'invite') return { action: 'member.join', after: { role }, workspaceId, ...who }
  return { action: 'account.setup', after: { operator, role }, workspaceId, ...who }
}
