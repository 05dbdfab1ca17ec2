import { MailChoice, MailChoices } from '@parley/contract/console/notifications'
import { ConfirmReply, PasskeyRow, SessionRow } from '@parley/contract/console/session'
import { List } from '@parley/contract/page'
import { Type } from 'typebox'
import { mustSetUpTwoFactor } from '../../../http/console/pipeline.ts'
import { type ConsoleRoute, personRoute, type SignedInContext } from '../../../http/console/route.ts'
import { ById, Strict } from '../../../http/console/shapes.ts'
import { unpagedList } from '../../../http/page.ts'
import { isoTimes } from '../../../lib/iso-times.ts'
import { refuse } from '../../../lib/refuse.ts'
import { checkPassword, hashPassword } from '../passwords.ts'
import { changeTimeZone, readTimeZone, renamePerson, requirePerson } from '../people.ts'
import {
  addPasskey,
  listPasskeys,
  passkeyOptions,
  passkeyRegistrationOptions,
  removePasskey,
} from '../sign-in/passkeys.ts'
import { confirm, endSession, endSessions, listSessions } from '../sign-in/sessions.ts'
import type { PeopleDeps } from '../sign-in/sign-in.routes.ts'
import { type Confirming, verifyIdentity, verifyPasskey } from '../sign-in/sign-in.ts'
import { backupCodesLeft, beginTotp, endTotp, finishTotp, newBackupCodes } from '../sign-in/two-factor.ts'
import { changePassword, replaceSessions } from './account.ts'
import { changeMailChoice, readMailChoices } from './mail-choices.ts'

const Secret = Type.String({ minLength: 1, maxLength: 1000 })
const Text = Type.String({ maxLength: 1000 })
const BackupCodes = Type.Array(Type.String())

/** Manage your own account: password, second factor, passkeys, sessions. */
export const accountRoutes = (deps: PeopleDeps): ConsoleRoute[] => [
  personRoute({
    method: 'POST',
    path: '/confirm',
    body: Strict({
      password: Type.Optional(Secret),
      code: Type.Optional(Secret),
      passkey: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    reply: ConfirmReply,
    ownTransactions: true,
    unaudited: 'the action that needs the confirmation is audited',
    async handle(context, { body }) {
      const { db, clock, person, cookie, setCookie } = context
      const who = await requirePerson(db, person.personId)
      if (body.passkey) {
        await verifyPasskey(db, clock, deps, who, cookie('step'), body.passkey, context)
        setCookie('step', null)
      } else await verifyIdentity(db, clock, deps.secretKeys(), who, body, confirmingOf(context))
      return { confirmed_until: (await confirm(db, clock, person.sessionId)).toISOString() }
    },
  }),
  personRoute({
    method: 'POST',
    path: '/confirm/passkey/options',
    reply: Type.Unknown(),
    unaudited: 'only returns options',
    async handle({ db, clock, person, setCookie }) {
      const { options, token } = await passkeyOptions(db, clock, deps, person.personId)
      setCookie('step', token)
      return options
    },
  }),
  personRoute({
    method: 'PATCH',
    path: '/account',
    body: Strict({ name: Text }),
    reply: Type.Object({ name: Type.String() }),
    async handle({ db, person, audit }, { body }) {
      const name = await renamePerson(db, person.personId, body.name)
      await audit({ action: 'account.rename', before: { name: person.name }, after: { name } })
      return { name }
    },
  }),
  personRoute({
    method: 'PUT',
    path: '/account/time-zone',
    body: Strict({ time_zone: Type.Union([Text, Type.Null()]) }),
    reply: Type.Object({ time_zone: Type.Union([Type.String(), Type.Null()]) }),
    async handle({ db, person, audit }, { body }) {
      const before = await readTimeZone(db, person.personId)
      const timeZone = await changeTimeZone(db, person.personId, body.time_zone)
      await audit({ action: 'account.time_zone', before: { time_zone: before }, after: { time_zone: timeZone } })
      return { time_zone: timeZone }
    },
  }),
  personRoute({
    method: 'GET',
    path: '/account/notifications',
    reply: MailChoices,
    handle: async ({ db, person }) => ({
      sends_mail: deps.mail !== null,
      choices: await readMailChoices(db, person),
    }),
  }),
  personRoute({
    method: 'PATCH',
    path: '/account/notifications',
    body: MailChoice,
    reply: MailChoices,
    async handle({ db, person, audit }, { body }) {
      const choices = await changeMailChoice(db, person, body)
      await audit({ action: 'account.notifications', after: { [body.kind]: body.wanted } })
      return { sends_mail: deps.mail !== null, choices }
    },
  }),
  personRoute({
    method: 'POST',
    path: '/account/password',
    body: Strict({ current: Secret, next: Secret }),
    ownTransactions: true,
    async handle(context, { body }) {
      const { db, clock, person, setCookie, audit } = context
      const who = await requirePerson(db, person.personId)
      await verifyIdentity(db, clock, deps.secretKeys(), who, { password: body.current }, confirmingOf(context))
      checkPassword(body.next, who)
      const passwordHash = await hashPassword(body.next, context.client)
      const token = await db.transaction(async (tx) => {
        await audit({ action: 'account.password' }, tx)
        return changePassword(tx, clock, who.id, person.sessionId, passwordHash, context)
      })
      setCookie('session', token)
    },
  }),
  personRoute({
    method: 'GET',
    path: '/account/two-factor',
    reply: Type.Object({ enabled: Type.Boolean(), backup_codes_left: Type.Integer() }),
    handle: async ({ db, person }) => ({
      enabled: person.twoFactor,
      backup_codes_left: person.twoFactor ? await backupCodesLeft(db, person.personId) : 0,
    }),
  }),
  personRoute({
    method: 'POST',
    path: '/account/totp',
    confirmed: true,
    reply: Type.Object({ uri: Type.String(), secret: Type.String(), backup_codes: BackupCodes }),
    unaudited: 'takes effect only when the first code is verified',
    async handle({ db, person }) {
      const who = await requirePerson(db, person.personId)
      const { uri, secret, backupCodes } = await beginTotp(db, deps.secretKeys(), who)
      return { uri, secret, backup_codes: backupCodes }
    },
  }),
  personRoute({
    method: 'POST',
    path: '/account/totp/verify',
    body: Strict({ code: Secret }),
    async handle(context, { body }) {
      const { db, clock, person, setCookie, audit } = context
      const who = await requirePerson(db, person.personId)
      if (!(await finishTotp(db, clock, deps.secretKeys(), who, body.code))) {
        refuse('wrong_credentials', { message: 'Wrong code. Wait for the next code and try again.', param: 'code' })
      }
      setCookie('session', await replaceSessions(db, clock, person.personId, person.sessionId, context))
      await audit({ action: 'account.two_factor_on' })
    },
  }),
  personRoute({
    method: 'POST',
    path: '/account/totp/disable',
    confirmed: true,
    async handle({ db, person, audit }) {
      await endTotp(db, person.personId)
      await audit({ action: 'account.two_factor_off' })
    },
  }),
  personRoute({
    method: 'POST',
    path: '/account/backup-codes',
    confirmed: true,
    reply: Type.Object({ backup_codes: BackupCodes }),
    async handle({ db, person, audit }) {
      if (!person.twoFactor) refuse('conflict', { message: 'Set up an authenticator app first.' })
      await audit({ action: 'account.backup_codes' })
      return { backup_codes: await newBackupCodes(db, person.personId) }
    },
  }),
  personRoute({
    method: 'GET',
    path: '/account/passkeys',
    reply: List(PasskeyRow),
    handle: async ({ db, person }) => unpagedList((await listPasskeys(db, person.personId)).map(toPasskey)),
  }),
  personRoute({
    method: 'POST',
    path: '/account/passkeys/options',
    confirmed: true,
    reply: Type.Unknown(),
    unaudited: 'only returns options',
    async handle({ db, clock, person, setCookie }) {
      const who = await requirePerson(db, person.personId)
      const { options, token } = await passkeyRegistrationOptions(db, clock, deps, who)
      setCookie('step', token)
      return options
    },
  }),
  personRoute({
    method: 'POST',
    path: '/account/passkeys',
    confirmed: true,
    body: Strict({ name: Text, response: Type.Record(Type.String(), Type.Unknown()) }),
    reply: PasskeyRow,
    status: 201,
    async handle({ db, clock, person, cookie, setCookie, audit }, { body }) {
      const who = await requirePerson(db, person.personId)
      const passkey = await addPasskey(db, clock, deps, who, cookie('step'), body.name, body.response)
      setCookie('step', null)
      // The other sessions began with the password alone. With a passkey, they could do everything.
      if (mustSetUpTwoFactor(person, deps)) await endSessions(db, person.personId, person.sessionId)
      await audit({ action: 'account.passkey_add', target: passkey.id, targetName: passkey.name })
      return toPasskey(passkey)
    },
  }),
  personRoute({
    method: 'DELETE',
    path: '/account/passkeys/:id',
    confirmed: true,
    params: ById,
    async handle({ db, person, audit }, { params }) {
      const { name } = await removePasskey(db, person.personId, params.id)
      await audit({ action: 'account.passkey_remove', target: params.id, targetName: name })
    },
  }),
  personRoute({
    method: 'GET',
    path: '/account/sessions',
    reply: List(SessionRow),
    handle: async ({ db, person }) =>
      unpagedList(
        (await listSessions(db, person.personId)).map((session) => ({
          ...isoTimes(session),
          current: session.id === person.sessionId,
        })),
      ),
  }),
  personRoute({
    method: 'DELETE',
    path: '/account/sessions/:id',
    params: ById,
    async handle({ db, person, audit }, { params }) {
      await endSession(db, person.personId, params.id)
      await audit({ action: 'session.revoke', target: params.id })
    },
  }),
  personRoute({
    method: 'POST',
    path: '/account/sessions/revoke-others',
    reply: Type.Object({ ended: Type.Integer() }),
    async handle({ db, person, audit }) {
      const ended = await endSessions(db, person.personId, person.sessionId)
      await audit({ action: 'session.revoke_others', after: { ended } })
      return { ended }
    },
  }),
]

const confirmingOf = ({ person, client, address, userAgent }: SignedInContext): Confirming => ({
  sessionId: person.sessionId,
  client,
  address,
  userAgent,
})

const toPasskey = ({ id, name, created_at }: { id: string; name: string; created_at: Date }): PasskeyRow => ({
  id,
  name,
  created_at: created_at.toISOString(),
})
