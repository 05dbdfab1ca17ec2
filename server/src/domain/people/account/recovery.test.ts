import { beforeEach, expect, test } from 'vitest'
import { followLink, goodPassword, newBrowser, type SignedInPerson, signedIn } from '../../../../testing/console.ts'
import { newPasskey } from '../../../../testing/passkey.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { invite, newResetLink, newSetupLink, followLink as useLink } from '../links/links.ts'
import { hashPassword } from '../passwords.ts'
import { requirePerson } from '../people.ts'
import { codeAt } from '../sign-in/totp.ts'

const server = useTestServer()

/** All tests have the same client address, which gets five attempts for each of 16 groups of email addresses. */
beforeEach(async () => void (await server.db.change('delete from sign_in_tries')))

const post = (body: object = {}) => ({ method: 'POST', body })
const newPassword = 'nine patient herons'

const idOf = async (person: SignedInPerson): Promise<string> => (await person.call('/session')).body.person.id

async function resetLinkFor(id: string): Promise<string> {
  return newResetLink(server.db, server.clock, await requirePerson(server.db, id), 'test')
}

/** Uses a link in a new browser and returns it with the response. */
async function follow(token: string, body: object) {
  const browser = newBrowser(server.url)
  return { ...(await followLink(browser, token, body)), browser }
}

async function signInWithPassword(email: string, password = goodPassword) {
  const browser = newBrowser(server.url)
  return { ...(await browser.call('/sign-in', post({ email, password }))), browser }
}

const auditEntries = (target: string, action: string) =>
  server.db.rows<{ actor: string; target_name: string; before: unknown; after: unknown }>(
    'select actor, target_name, before, after from audit_entries where target = $1 and action = $2 order by at, id',
    [target, action],
  )

/** A person with an authenticator app. */
async function personWithApp() {
  const person = await signedIn(server, { operator: true })
  const { secret } = (await person.call('/account/totp', { method: 'POST' })).body
  await person.call('/account/totp/verify', post({ code: codeAt(secret, server.clock.now()) }))
  server.clock.forward({ seconds: 31 })
  return { ...person, code: () => codeAt(secret, server.clock.now()) }
}

test('a passkey keeps working after its owner changes the password', async () => {
  const person = await signedIn(server, { operator: true })
  const passkey = newPasskey()
  expect((await passkey.register(person, 'Laptop')).status).toBe(201)
  expect((await passkey.signIn(newBrowser(server.url))).body).toEqual({ next: 'done' })
  const change = post({ current: goodPassword, next: newPassword })
  expect((await person.call('/account/password', change)).status).toBe(204)
  expect((await passkey.signIn(newBrowser(server.url))).body).toEqual({ next: 'done' })
})

test('a reset link removes every passkey, session and pending challenge, and is audited', async () => {
  const person = await signedIn(server, { operator: true })
  const id = await idOf(person)
  const { browser: attacker } = await signInWithPassword(person.email)
  const planted = newPasskey()
  expect((await planted.register(attacker, 'Not theirs')).status).toBe(201)
  expect((await newPasskey().register(person, 'Laptop')).status).toBe(201)
  const otherBrowser = newBrowser(server.url)
  expect((await planted.signIn(otherBrowser)).status).toBe(200)
  const second = newPasskey()
  const options = await second.begin(attacker)

  const token = await resetLinkFor(id)
  // Creating the link changes nothing; using it does.
  expect((await otherBrowser.call('/session')).status).toBe(200)
  const { status, browser } = await follow(token, { password: newPassword })
  expect(status).toBe(200)

  for (const old of [person, attacker, otherBrowser]) expect((await old.call('/session')).status).toBe(401)
  expect((await browser.call('/account/passkeys')).body.data).toEqual([])
  expect((await planted.signIn(newBrowser(server.url))).status).toBe(401)
  // A browser that started to add a passkey before the reset cannot finish, even with a new session.
  const late = newBrowser(server.url)
  late.cookies.set('parley-session', browser.cookies.get('parley-session') ?? '')
  late.cookies.set('parley-step', attacker.cookies.get('parley-step') ?? '')
  expect((await second.finish(late, 'Late', options)).status).toBe(401)
  expect(await auditEntries(id, 'account.password')).toEqual([
    {
      actor: person.email,
      target_name: person.email,
      before: null,
      after: { by: 'reset link', passkeys_removed: 2, sessions_ended: 3 },
    },
  ])
})

test('a reset link does not affect the passkeys and sessions of other people', async () => {
  const [person, other] = [await signedIn(server, { operator: true }), await signedIn(server, { operator: true })]
  const passkey = newPasskey()
  await passkey.register(other, 'Laptop')
  expect((await follow(await resetLinkFor(await idOf(person)), { password: newPassword })).status).toBe(200)
  expect((await other.call('/session')).status).toBe(200)
  expect((await passkey.signIn(newBrowser(server.url))).status).toBe(200)
})

test('requests that run concurrently with a reset do not get access', async () => {
  const person = await signedIn(server, { operator: true })
  const id = await idOf(person)
  const [{ browser: attacker }, { browser: changer }] = [
    await signInWithPassword(person.email),
    await signInWithPassword(person.email),
  ]
  const [planted, second] = [newPasskey(), newPasskey()]
  await planted.register(attacker, 'Not theirs')
  const options = await second.begin(attacker)
  const token = await resetLinkFor(id)
  const passwordHash = await hashPassword(newPassword, { key: 'test', isKnown: false })
  const pending = await server.db.transaction(async (tx) => {
    await useLink(tx, server.clock, token, { passwordHash })
    // Nothing is committed yet: these requests still see the old account.
    const attempts = [
      signInWithPassword(person.email),
      planted.signIn(newBrowser(server.url)),
      second.finish(attacker, 'Late', options),
      changer.call('/account/password', post({ current: goodPassword, next: 'a password of the attacker' })),
    ]
    await until('all of them wait for the reset', async () => {
      const [, [waiting]] = [
        await tx.rows('select pg_stat_clear_snapshot()'),
        await tx.rows<{ count: number }>(
          `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        ),
      ]
      return waiting?.count === attempts.length
    })
    return attempts
  })
  expect((await Promise.all(pending)).map(({ status }) => status)).toEqual([401, 401, 401, 401])
  const left = 'select (select count(*) from passkeys where person_id = $1) as passkeys, count(*) as sessions'
  expect(await server.db.first(`${left} from sessions where person_id = $1`, [id])).toEqual({
    passkeys: 0,
    sessions: 0,
  })
  expect((await signInWithPassword(person.email, newPassword)).status).toBe(200)
})

test.each(['an invitation', 'a setup link', 'a reset link', 'a confirmation by password'])(
  '%s does not reset the count of failed codes',
  async (kind) => {
    const person = await personWithApp()
    const { browser } = await signInWithPassword(person.email)
    const wrong = () => browser.call('/sign-in/code', post({ code: 'wrong', kind: 'backup' }))
    for (let index = 0; index < 4; index++) expect((await wrong()).status).toBe(401)

    const id = await idOf(person)
    if (kind === 'an invitation') {
      const { id: workspaceId } = await newWorkspace(server)
      const to = { workspaceId, email: person.email, role: 'member', createdBy: 'test' } as const
      const token = await invite(server.db, server.clock, to)
      expect((await follow(token, { password: goodPassword })).body).toEqual({ next: 'second_factor' })
    } else if (kind === 'a setup link') {
      const token = await newSetupLink(server.db, server.clock, null, 'test')
      const { body } = await follow(token, { email: person.email, password: goodPassword })
      expect(body).toEqual({ next: 'second_factor' })
    } else if (kind === 'a reset link') {
      expect((await follow(await resetLinkFor(id), { password: goodPassword })).body).toEqual({ next: 'second_factor' })
      await browser.call('/sign-in', post({ email: person.email, password: goodPassword }))
    } else {
      expect((await person.call('/confirm', post({ password: goodPassword }))).status).toBe(200)
    }
    expect((await wrong()).status).toBe(401)
    expect((await wrong()).status).toBe(429)
    // Both factors do reset it, after the lockout.
    server.clock.forward({ seconds: 61 })
    expect((await browser.call('/sign-in/code', post({ code: person.code(), kind: 'totp' }))).status).toBe(200)
    const again = await signInWithPassword(person.email)
    for (let index = 0; index < 4; index++) {
      expect((await again.browser.call('/sign-in/code', post({ code: 'wrong', kind: 'backup' }))).status).toBe(401)
    }
  },
)

test('a reset link ends a lockout of a person without a second factor', async () => {
  const person = await signedIn(server, { operator: true })
  const id = await idOf(person)
  for (let index = 0; index < 6; index++) await signInWithPassword(person.email, 'wrong and long enough')
  expect((await signInWithPassword(person.email)).status).toBe(429)
  expect((await follow(await resetLinkFor(id), { password: newPassword })).body).toEqual({ next: 'done' })
  expect((await signInWithPassword(person.email, newPassword)).status).toBe(200)
})

test('an operator lists all passkeys and removes one, with a recent confirmation and an audit entry', async () => {
  const operator = await signedIn(server, { operator: true })
  const { id: workspaceId } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId, role: 'admin' })
  const id = await idOf(person)
  const [planted, own] = [newPasskey(), newPasskey()]
  const { id: plantedId, created_at } = (await planted.register(person, 'Not theirs')).body
  await own.register(person, 'Laptop')

  const { data } = (await operator.call('/operator/people')).body
  expect(data.find((each: { id: string }) => each.id === id).passkeys).toEqual([
    { id: plantedId, name: 'Not theirs', created_at },
    { id: expect.any(String), name: 'Laptop', created_at: expect.any(String) },
  ])
  const remove = (by: SignedInPerson, whose = id) =>
    by.call(`/operator/people/${whose}/passkeys/${plantedId}`, { method: 'DELETE' })
  expect((await remove(person)).status).toBe(403)
  expect((await remove(operator, await idOf(operator))).status).toBe(404)
  server.clock.forward({ minutes: 11 })
  expect((await remove(operator)).body.error.code).toBe('confirmation_required')
  await operator.call('/confirm', post({ password: goodPassword }))
  expect((await remove(operator)).status).toBe(204)
  expect((await remove(operator)).status).toBe(404)
  expect((await planted.signIn(newBrowser(server.url))).status).toBe(401)
  expect((await own.signIn(newBrowser(server.url))).status).toBe(200)
  expect(await auditEntries(id, 'person.passkey_remove')).toEqual([
    {
      actor: operator.email,
      target_name: person.email,
      before: { passkey: plantedId, name: 'Not theirs' },
      after: null,
    },
  ])
})
