import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { followLink, goodPassword, newBrowser, readLink, signedIn } from '../../../../testing/console.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { load } from '../../../lib/load.ts'
import { requirePerson } from '../people.ts'
import { codeAt } from '../sign-in/totp.ts'
import { invite, newResetLink, newSetupLink } from './links.ts'

const server = useTestServer()

/** All tests have the same client address, which gets five attempts for each of 16 groups of email addresses. */
beforeEach(async () => void (await server.db.change('delete from sign_in_tries')))

const post = (body: object) => ({ method: 'POST', body })
const follow = (token: string, body: object) => followLink(newBrowser(server.url), token, body)

async function rowOf(person: { call: Awaited<ReturnType<typeof signedIn>>['call'] }) {
  return requirePerson(server.db, (await person.call('/session')).body.person.id)
}

test('of concurrent requests with one link, one succeeds and none hangs', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const person = await signedIn(server, { operator: true })
  const input = { workspaceId, email: person.email, role: 'member', createdBy: 'test' } as const
  const token = await invite(server.db, server.clock, input)
  const responses = await Promise.all(Array.from({ length: 12 }, () => follow(token, { password: goodPassword })))
  // Some get 429, because the attempts ran out while others were checked. A deadlock would show up as 503.
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(responses.every(({ status }) => [200, 410, 429].includes(status))).toBe(true)
})

test('only the newest reset link works, and a new password invalidates it', async () => {
  const person = await signedIn(server, { operator: true })
  const row = await rowOf(person)
  const first = await newResetLink(server.db, server.clock, row, 'test')
  const second = await newResetLink(server.db, server.clock, row, 'test')
  expect((await follow(first, { password: 'nine patient herons' })).status).toBe(410)
  const change = { current: goodPassword, next: 'eight loud badgers' }
  expect((await person.call('/account/password', post(change))).status).toBe(204)
  expect((await follow(second, { password: 'nine patient herons' })).status).toBe(410)
})

/** As if the person had set the password with a link that was sent to the address. */
const verifyAddress = (email: string) =>
  server.db.change('update people set email_verified_at = $2 where email = $1', [email, server.clock.now()])

test('a setup link makes an existing user with a verified address an operator', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId, role: 'member' })
  await verifyAddress(person.email)
  const token = await newSetupLink(server.db, server.clock, null, 'test')
  expect((await follow(token, { email: person.email, password: 'not their password' })).status).toBe(401)
  expect((await person.call('/operator/workspaces')).status).toBe(403)
  expect((await follow(token, { email: person.email, password: goodPassword })).status).toBe(200)
  expect((await person.call('/operator/workspaces')).status).toBe(200)
})

test('a setup link does not make an account an operator whose address is unverified: others may have sessions of it', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId, role: 'member' })
  const token = await newSetupLink(server.db, server.clock, null, 'test')
  const refused = await follow(token, { email: person.email, password: goodPassword })
  expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  expect(refused.body.error.message).toContain(`./parley user operator --email ${person.email}`)
  expect((await person.call('/operator/workspaces')).status).toBe(403)
  // The link is not used up.
  expect((await readLink(newBrowser(server.url), token)).status).toBe(200)
})

const inviteTo = (workspaceId: string, email: string) =>
  invite(server.db, server.clock, { workspaceId, email, role: 'developer', createdBy: 'test' })

/** A person with an authenticator app. */
async function personWithApp(workspaceId: string) {
  const person = await signedIn(server, { workspaceId, role: 'member' })
  const { secret } = (await person.call('/account/totp', { method: 'POST' })).body
  await person.call('/account/totp/verify', post({ code: codeAt(secret, server.clock.now()) }))
  server.clock.forward({ seconds: 31 })
  return { ...person, code: () => post({ code: codeAt(secret, server.clock.now()), kind: 'totp' }) }
}

test('a person with an authenticator app joins only after the code, and the invitation stays open until then', async () => {
  const [ours, theirs] = [await newWorkspace(server), await newWorkspace(server)]
  const admin = await signedIn(server, { workspaceId: ours.id, role: 'admin' })
  const person = await personWithApp(theirs.id)
  const team = async () => (await admin.call(`/w/${ours.id}/team`)).body
  const token = await inviteTo(ours.id, person.email)
  const browser = newBrowser(server.url)
  expect((await followLink(browser, token, { password: goodPassword })).body).toEqual({ next: 'second_factor' })
  expect((await browser.call('/sign-in/code', post({ code: '000000', kind: 'totp' }))).status).toBe(401)
  expect(await team()).toMatchObject({ members: [{ email: admin.email }], invites: [{ email: person.email }] })
  expect((await person.call(`/w/${ours.id}/team`)).status).toBe(404)

  expect((await browser.call('/sign-in/code', person.code())).body).toEqual({ next: 'done' })
  expect(await team()).toMatchObject({ members: [{ email: admin.email }, { email: person.email }], invites: [] })
  const { data } = (await admin.call(`/w/${ours.id}/audit?action=member.join`)).body
  expect(data[0]).toMatchObject({ action: 'member.join', actor: person.email, after: { role: 'developer' } })
  expect((await follow(token, { password: goodPassword })).status).toBe(410)
})

test('an invitation that is withdrawn before the code is not joined', async () => {
  const [ours, theirs] = [await newWorkspace(server), await newWorkspace(server)]
  const person = await personWithApp(theirs.id)
  const browser = newBrowser(server.url)
  await followLink(browser, await inviteTo(ours.id, person.email), { password: goodPassword })
  await server.db.change('update links set used_at = $2 where workspace_id = $1 and used_at is null', [
    ours.id,
    server.clock.now(),
  ])
  expect((await browser.call('/sign-in/code', person.code())).status).toBe(410)
  expect((await person.call(`/w/${ours.id}/team`)).status).toBe(404)
  expect((await browser.call('/session')).status).toBe(401)
})

test('a setup link makes a person with an authenticator app an operator only after the code', async () => {
  const person = await personWithApp((await newWorkspace(server)).id)
  await verifyAddress(person.email)
  const browser = newBrowser(server.url)
  const token = await newSetupLink(server.db, server.clock, null, 'test')
  const given = { email: person.email, password: goodPassword }
  expect((await followLink(browser, token, given)).body).toEqual({ next: 'second_factor' })
  expect((await person.call('/operator/workspaces')).status).toBe(403)
  expect((await browser.call('/sign-in/code', person.code())).status).toBe(200)
  expect((await person.call('/operator/workspaces')).status).toBe(200)
})

const accept = (person: { call: Awaited<ReturnType<typeof signedIn>>['call'] }, token: string) =>
  person.call('/links/accept', post({ token }))

test('a person who is signed in accepts an invitation without a password, once', async () => {
  const [ours, theirs] = [await newWorkspace(server), await newWorkspace(server)]
  const admin = await signedIn(server, { workspaceId: ours.id, role: 'admin' })
  const person = await signedIn(server, { workspaceId: theirs.id, role: 'member' })
  const token = await inviteTo(ours.id, person.email)
  const shown = { kind: 'invite', workspace_id: ours.id, email: person.email, role: 'developer' }
  expect((await readLink(newBrowser(server.url), token)).body).toMatchObject({ ...shown, signed_in_as: null })
  expect((await readLink(person, token)).body).toMatchObject({ ...shown, signed_in_as: person.email })
  expect((await accept(person, token)).status).toBe(204)
  expect((await person.call('/session')).body.workspaces).toContainEqual(
    expect.objectContaining({ id: ours.id, role: 'developer' }),
  )
  const { data } = (await admin.call(`/w/${ours.id}/audit?action=member.join`)).body
  expect(data[0]).toMatchObject({ actor: person.email, after: { role: 'developer' } })
  expect((await accept(person, token)).status).toBe(410)
})

const roleIn = async (person: { call: Awaited<ReturnType<typeof signedIn>>['call'] }, workspaceId: string) =>
  (await person.call('/session')).body.workspaces.find(({ id }: { id: string }) => id === workspaceId)?.role

test('an old invitation never lowers the role of a member, so the last admin stays', async () => {
  const { id } = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: id, role: 'admin' })
  const old = await inviteTo(id, admin.email)
  expect((await readLink(admin, old)).body).toMatchObject({ role: 'developer', current_role: 'admin' })
  // Someone else who has the link does not learn it.
  expect((await readLink(newBrowser(server.url), old)).body.current_role).toBeNull()
  expect((await accept(admin, old)).status).toBe(204)
  expect(await roleIn(admin, id)).toBe('admin')
  const { data } = (await admin.call(`/w/${id}/audit?action=member.join`)).body
  expect(data[0]).toMatchObject({ actor: admin.email, after: { role: 'admin' } })
  // The same with the password, without a session.
  expect((await follow(await inviteTo(id, admin.email), { password: goodPassword })).status).toBe(200)
  expect(await roleIn(admin, id)).toBe('admin')
})

test('an invitation raises the role of a member', async () => {
  const { id } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: id, role: 'member' })
  const token = await inviteTo(id, person.email)
  expect((await readLink(person, token)).body).toMatchObject({ role: 'developer', current_role: 'member' })
  expect((await accept(person, token)).status).toBe(204)
  expect(await roleIn(person, id)).toBe('developer')
})

test('an invitation for another email address, a setup link and a missing session are refused', async () => {
  const { id } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: (await newWorkspace(server)).id, role: 'member' })
  const token = await inviteTo(id, 'someone.else@example.com')
  const refused = await accept(person, token)
  expect(refused).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  expect(refused.body.error.message).toBe(
    `This invitation is for someone.else@example.com. You are signed in as ${person.email}.`,
  )
  // It is still open for the person it is for.
  expect((await readLink(person, token)).status).toBe(200)
  const setup = await newSetupLink(server.db, server.clock, null, 'test')
  expect((await accept(person, setup)).status).toBe(409)
  expect((await person.call('/operator/workspaces')).status).toBe(403)
  expect((await accept(newBrowser(server.url), token)).status).toBe(401)
  expect((await accept(person, 'unknown')).status).toBe(410)
})

test('GET /sign-in says whether there is an account, and the address of passkeys', async () => {
  await signedIn(server, { operator: true })
  const { status, body } = await newBrowser(server.url).call('/sign-in')
  expect([status, body]).toEqual([200, { is_set_up: true, public_url: 'http://parley.test', sends_mail: false }])
})

test('an invitation does not reveal whether the email address has an account', async () => {
  const [ours, theirs] = [await newWorkspace(server), await newWorkspace(server)]
  const person = await signedIn(server, { workspaceId: theirs.id, role: 'member' })
  const emails = [person.email, 'unknown@example.com']
  const responses = []
  for (const email of emails) {
    const token = await inviteTo(ours.id, email)
    const { status, body } = await readLink(newBrowser(server.url), token)
    const { error } = (await follow(token, { password: 'not the password at all' })).body
    responses.push({ status, body: { ...body, email: '' }, error: { ...error, request_id: '' } })
  }
  expect(responses[0]).toEqual(responses[1])
  expect(responses[0]).toMatchObject({ status: 200, error: { code: 'wrong_credentials' } })

  // Nor does a form that is filled in wrong on purpose, so that the invitation stays open.
  const wrongForms = [
    { name: 'Eve', password: 'short' },
    { name: ' ', password: 'nine patient herons' },
  ]
  for (const form of wrongForms) {
    const errors = []
    for (const email of emails) {
      const { status, body } = await follow(await inviteTo(ours.id, email), form)
      errors.push([status, body.error.code, body.error.errors])
    }
    expect(errors[0]).toEqual(errors[1])
    expect(errors[0]?.slice(0, 2)).toEqual([400, 'validation_failed'])
  }
})

test('the token of a link is in the fragment of its URL and in no log line', async () => {
  const { id } = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: id, role: 'admin' })
  const { body } = await admin.call(`/w/${id}/team/invites`, post({ email: 'eve@example.com', role: 'member' }))
  const token = new URL(body.url).hash.slice(1)
  expect(body.url).toBe(`http://parley.test/link#${token}`)
  expect((await readLink(newBrowser(server.url), token)).status).toBe(200)
  const page = await fetch(`${server.url}/link`, { headers: { accept: 'text/html' } })
  expect(page.headers.get('referrer-policy')).toBe('no-referrer')
  expect(server.logged.join()).not.toContain(token)
  const log = await server.db.first<{ text: string }>(
    'select coalesce(json_agg(r)::text, $1) as text from request_log r',
    [''],
  )
  expect(log?.text).not.toContain(token)
})

test('joining by invitation is audited once, with the role', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const [admin, email] = [newBrowser(server.url), 'ada@example.com']
  const token = await invite(server.db, server.clock, { workspaceId, email, role: 'admin', createdBy: 'test' })
  expect((await followLink(admin, token, { name: 'Ada', password: goodPassword })).status).toBe(200)
  const { data } = (await admin.call(`/w/${workspaceId}/audit`)).body
  expect(data).toMatchObject([{ action: 'member.join', actor: email, after: { role: 'admin' } }])
})

test('a new password cancels a sign-in that waits for its second factor', async () => {
  const person = await signedIn(server, { operator: true })
  const row = await rowOf(person)
  await server.db.change('update people set totp_sealed = $2, totp_confirmed_at = $3 where id = $1', [
    row.id,
    'test:none',
    server.clock.now(),
  ])
  const attacker = newBrowser(server.url)
  await attacker.call('/sign-in', post({ email: person.email, password: goodPassword }))
  await follow(await newResetLink(server.db, server.clock, row, 'test'), { password: 'nine patient herons' })
  const { body } = await attacker.call('/sign-in/code', post({ code: '123456', kind: 'backup' }))
  expect(body.error.message).toContain('took too long')
})

/** How many transactions are open each time that a password is hashed, from now on. */
function transactionsWhileHashing(): number[] {
  const argon2 = load('@node-rs/argon2') as typeof import('@node-rs/argon2')
  const { hash } = argon2
  const counts: number[] = []
  const spy = vi.spyOn(argon2, 'hash').mockImplementation(async (...given) => {
    const open = `select count(*)::int from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`
    counts.push((await server.db.first<{ count: number }>(open))?.count ?? 0)
    return hash(...given)
  })
  onTestFinished(() => spy.mockRestore())
  return counts
}

test('a new password is hashed while no transaction is open: hashing may have to wait in its queue', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId, role: 'member' })
  const counts = transactionsWhileHashing()
  const change = { current: goodPassword, next: 'nine patient herons' }
  expect((await person.call('/account/password', post(change))).status).toBe(204)
  const reset = await newResetLink(server.db, server.clock, await rowOf(person), 'test')
  expect((await follow(reset, { password: 'eight loud badgers' })).status).toBe(200)
  const account = { name: 'Ida', password: goodPassword }
  expect((await follow(await inviteTo(workspaceId, 'ida@example.com'), account)).status).toBe(200)
  expect(counts).toEqual([0, 0, 0])
})

test('a replaced link and a rejected password cost no hash', async () => {
  const person = await signedIn(server, { operator: true })
  const row = await rowOf(person)
  const replaced = await newResetLink(server.db, server.clock, row, 'test')
  const reset = await newResetLink(server.db, server.clock, row, 'test')
  const counts = transactionsWhileHashing()
  expect((await follow(replaced, { password: 'nine patient herons' })).status).toBe(410)
  expect((await follow(replaced, { password: 'short' })).status).toBe(410)
  expect((await follow(reset, { password: 'short' })).status).toBe(400)
  const change = { current: goodPassword, next: 'short' }
  expect((await person.call('/account/password', post(change))).status).toBe(400)
  expect(counts).toEqual([])
  // The rejected password did not use up the link.
  expect((await follow(reset, { password: 'nine patient herons' })).status).toBe(200)
})
