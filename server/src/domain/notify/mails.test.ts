import { type AddressInfo, createServer } from 'node:net'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  followLink,
  goodPassword,
  newBrowser,
  readLink,
  type SignedInPerson,
  signedIn,
  tokenOf,
} from '../../../testing/console.ts'
import { useMailingServer } from '../../../testing/mail.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { open } from '../../lib/seal.ts'
import { checkSmtp } from '../../net/smtp.ts'
import { mailSecretContext } from '../mail/outbox.ts'
import { newResetLink } from '../people/links/links.ts'
import { requirePerson } from '../people/people.ts'
import { codeAt } from '../people/sign-in/totp.ts'

const { server, mailServer, deliver, send, mailsTo } = await useMailingServer()

beforeEach(async () => {
  mailServer.behave('accept')
  await server.db.change('delete from mails')
})

const post = (body?: object) => ({ method: 'POST', body })

let addresses = 0
const newAddress = () => `someone${++addresses}@example.com`

const waiting = () => server.db.rows<{ secret_sealed: string | null; error: string | null }>('select * from mails')

/** The link in an email, which is the same in its text and its HTML. */
function linkIn(text: string): string {
  const links = new Set(text.match(/http:\/\/parley\.test\/link#[\w-]+/g))
  expect(links.size).toBe(1)
  return [...links][0] ?? ''
}

async function newTeam() {
  const { id } = await newWorkspace(server, 'Harbour Clinic')
  const admin = await signedIn(server, { workspaceId: id, role: 'admin' })
  const invite = (email: string) => admin.call(`/w/${id}/team/invites`, post({ email, role: 'developer' }))
  return { id, admin, invite }
}

const ask = (email: string) => newBrowser(server.url).call('/sign-in/reset', post({ email }))

test('an invitation is sent by email once, its link is shown to no one else, and its token is deleted when it is sent', async () => {
  const { admin, invite } = await newTeam()
  const email = newAddress()
  const { status, body } = await invite(email)
  expect({ status, body }).toEqual({ status: 201, body: { url: null, expires_at: expect.any(String), mailed: true } })
  const [row] = await waiting()
  expect(row?.secret_sealed).toMatch(/^test:/)
  await deliver(3)
  const [mail, ...others] = mailsTo(email)
  expect(others).toEqual([])
  expect(mail).toMatchObject({ from: 'parley@example.com', to: [email], subject: 'Invitation to Harbour Clinic' })
  expect(mail?.raw).toMatch(/^From: Parley <parley@example\.com>\r$/m)
  expect(mail?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m)
  expect(mail?.text).toContain(`${admin.email} invites you to the workspace “Harbour Clinic”`)
  const token = tokenOf(linkIn(mail?.text ?? ''))
  expect(JSON.stringify(row)).not.toContain(token)
  expect(await waiting()).toEqual([])
  expect((await readLink(newBrowser(server.url), token)).status).toBe(200)
  expect(server.logged.join()).not.toContain(token)
})

test('an operator’s invitation and reset link are sent by email too, and not shown', async () => {
  const { id } = await newTeam()
  const operator = await signedIn(server, { operator: true })
  const email = newAddress()
  const invited = await operator.call(`/operator/workspaces/${id}/invites`, post({ email }))
  expect(invited.body).toMatchObject({ url: null, mailed: true })
  const { body: session } = await operator.call('/session')
  const reset = await operator.call(`/operator/people/${session.person.id}/reset-link`, post())
  expect(reset.body).toMatchObject({ url: null, mailed: true })
  await deliver()
  for (const address of [email, operator.email]) linkIn(mailsTo(address)[0]?.text ?? '')
  // A person who follows it has received the email.
  const token = tokenOf(linkIn(mailsTo(operator.email)[0]?.text ?? ''))
  expect((await followLink(newBrowser(server.url), token, { password: 'nine patient herons' })).status).toBeLessThan(
    300,
  )
  const verified = 'select email_verified_at as at from people where email = $1'
  expect(await server.db.first(verified, [operator.email])).toEqual({ at: server.clock.now() })
})

test('an address is verified once a link that was sent to it sets the password, and only then', async () => {
  const { id, admin, invite } = await newTeam()
  const isVerified = async (address: string) => {
    const { members } = (await admin.call(`/w/${id}/team`)).body
    return members.find(({ email }: { email: string }) => email === address)?.email_verified
  }
  const mailedToken = (address: string) => tokenOf(linkIn(mailsTo(address).at(-1)?.text ?? ''))
  const email = newAddress()
  await invite(email)
  await deliver()
  await followLink(newBrowser(server.url), mailedToken(email), { name: 'Bea', password: goodPassword })
  expect([await isVerified(email), await isVerified(admin.email)]).toEqual([true, false])
  // Someone else may know the password of the admin: an invitation that is accepted with it proves nothing.
  const other = await newTeam()
  await other.invite(admin.email)
  await deliver()
  await followLink(newBrowser(server.url), mailedToken(admin.email), { password: goodPassword })
  expect(await isVerified(admin.email)).toBe(false)
  await ask(admin.email)
  await deliver()
  await followLink(admin, mailedToken(admin.email), { password: 'nine patient herons' })
  expect(await isVerified(admin.email)).toBe(true)
  // A link that was shown may have been used by another person.
  const person = (await admin.call('/session')).body.person
  const shown = await newResetLink(server.db, server.clock, await requirePerson(server.db, person.id), 'test')
  await followLink(admin, shown, { password: goodPassword })
  expect(await isVerified(admin.email)).toBe(false)
})

test('a reset by email does not verify an address whose authenticator app another person may have set up', async () => {
  const { id, admin } = await newTeam()
  const { secret } = (await admin.call('/account/totp', post())).body
  await admin.call('/account/totp/verify', post({ code: codeAt(secret, server.clock.now()) }))
  const operator = await signedIn(server, { workspaceId: id, role: 'admin' })
  const reset = async () => {
    await ask(admin.email)
    await deliver()
    const token = tokenOf(linkIn(mailsTo(admin.email).at(-1)?.text ?? ''))
    const used = await followLink(newBrowser(server.url), token, { password: 'nine patient herons' })
    expect(used.body).toEqual({ next: 'second_factor' })
    const { members } = (await operator.call(`/w/${id}/team`)).body
    return members.find(({ email }: { email: string }) => email === admin.email)?.email_verified
  }
  expect(await reset()).toBe(false)
  await server.db.change('update people set email_verified_at = $2 where email = $1', [admin.email, server.clock.now()])
  expect(await reset()).toBe(true)
})

test('a person who forgot their password gets a link by email that sets a new one', async () => {
  const { admin } = await newTeam()
  expect(await ask(`  ${admin.email.toUpperCase()} `)).toMatchObject({ status: 204, body: null })
  await deliver(3)
  const [mail, ...others] = mailsTo(admin.email)
  expect(others).toEqual([])
  expect(mail?.subject).toBe('Reset your Parley password')
  const browser = newBrowser(server.url)
  const used = await followLink(browser, tokenOf(linkIn(mail?.text ?? '')), { password: 'nine patient herons' })
  expect(used.status).toBe(200)
  const signIn = (password: string) => newBrowser(server.url).call('/sign-in', post({ email: admin.email, password }))
  expect((await signIn('nine patient herons')).status).toBe(200)
  expect((await signIn(goodPassword)).status).not.toBe(200)
})

test('an address without an account gets the same response and no email', async () => {
  const email = newAddress()
  expect(await ask(email)).toMatchObject({ status: 204, body: null })
  expect(await waiting()).toHaveLength(1)
  await deliver()
  expect([await waiting(), mailsTo(email)]).toEqual([[], []])
  expect((await ask('not an address')).status).toBe(400)
})

test('a person whose second factor is a passkey gets no link: it would remove the passkey', async () => {
  const { admin } = await newTeam()
  const { body } = await admin.call('/session')
  await server.db.change(
    `insert into passkeys (id, person_id, name, credential_id, public_key, counter, transports, created_at)
     values (gen_random_uuid(), $1, 'Laptop', 'credential', '', 0, '{}', $2)`,
    [body.person.id, server.clock.now()],
  )
  await ask(admin.email)
  await deliver()
  const [mail] = mailsTo(admin.email)
  expect(mail?.text).toContain('You sign in with a passkey')
  expect(mail?.text).not.toContain('/link#')
})

test('a disabled person gets no email, even if it waits already', async () => {
  const { admin, id } = await newTeam()
  const operator = await signedIn(server, { operator: true })
  const { body } = await admin.call('/session')
  await ask(admin.email)
  expect((await operator.call(`/operator/people/${body.person.id}/disable`, post())).status).toBe(204)
  await operator.call(`/operator/workspaces/${id}/invites`, post({ email: newAddress() }))
  await ask(admin.email)
  await deliver()
  expect(mailsTo(admin.email)).toEqual([])
  expect(await waiting()).toEqual([])
})

test('an address gets at most five resets and five invitations in an hour', async () => {
  const { admin } = await newTeam()
  const asked = await Promise.all(Array.from({ length: 8 }, () => ask(admin.email)))
  expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([204]))
  await deliver()
  expect(mailsTo(admin.email)).toHaveLength(5)
  const email = newAddress()
  const statuses = []
  for (let workspaces = 0; workspaces < 7; workspaces++) statuses.push((await (await newTeam()).invite(email)).status)
  expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 429])
  await deliver()
  expect(mailsTo(email)).toHaveLength(5)
  server.clock.forward({ hours: 1 })
  await ask(admin.email)
  await deliver()
  expect(mailsTo(admin.email)).toHaveLength(6)
})

test('a workspace can invite fifty addresses in an hour by email; more are refused, because their links would be shown', async () => {
  const { id, admin, invite } = await newTeam()
  const statuses: number[] = []
  for (let invites = 0; invites < 51; invites++) statuses.push((await invite(newAddress())).status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(50)
  const refused = await invite(newAddress())
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'too_many_attempts' } } })
  expect(refused.body.error.message).toContain('emails')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await admin.call(`/w/${id}/team`)).body.invites).toHaveLength(50)
})

test('an email that the server cannot accept now is retried later; a rejected email is not', async () => {
  const { invite } = await newTeam()
  const [later, never] = [newAddress(), newAddress()]
  mailServer.behave(451)
  await invite(later)
  expect(await send()).toBe(1)
  expect(await waiting()).toMatchObject([{ error: expect.stringContaining('not today') }])
  expect(await send()).toBe(0)
  mailServer.behave(550)
  await invite(never)
  await send()
  expect(await waiting()).toHaveLength(1)
  mailServer.behave('accept')
  server.clock.forward({ minutes: 1 })
  await send()
  expect([mailsTo(later).length, mailsTo(never).length, await waiting()]).toEqual([1, 0, []])
  const events = server.logged.map((line) => JSON.parse(line).event)
  expect(events).toContain('mail.retried')
  expect(events).toContain('mail.failed')
  expect(server.logged.filter((line) => line.includes('"mail.')).join()).not.toContain('@example.com')
})

test.each<[string, (mail: { raw: string; text: string }) => string]>([
  ['its link', ({ text }) => `4.7.1 Message contains a suspicious link: ${linkIn(text)}`],
  ['its text', ({ text }) => `4.7.1 Message contains a suspicious link: ${text}`],
  [
    'its source',
    ({ raw }) => `4.7.1 Message contains a suspicious link: ${raw.slice(raw.indexOf('http://parley.test'))}`,
  ],
  [
    'its link in pieces',
    ({ text }) => `4.7.1 Message contains a suspicious link: ${linkIn(text).replace(/.{6}/g, '$& ')}`,
  ],
])('a mail server that quotes %s in its rejection puts no token into the log or the database', async (_, quote) => {
  const { invite } = await newTeam()
  mailServer.behave(quote)
  await invite(newAddress())
  const before = server.logged.length
  await send()
  const [mail] = await server.db.rows<{ id: string; secret_sealed: string; error: string }>('select * from mails')
  const token = open(server.secretKeys, mail?.secret_sealed ?? '', mailSecretContext(mail?.id ?? ''))
  const kept = [mail?.error, ...server.logged.slice(before)].join()
  expect(mail?.error).toContain('451 4.7.1 Message contains a suspicious link:')
  expect(kept).toContain('mail.retried')
  for (let at = 0; at < token.length - 5; at++) expect(kept).not.toContain(token.slice(at, at + 6))
  expect(kept).not.toContain('parley.test')
})

test('an email that is never accepted is given up within a day, and an expired link is not sent', async () => {
  const { admin, invite } = await newTeam()
  mailServer.behave(451)
  await invite(newAddress())
  let tries = 0
  for (let hours = 0; hours < 30; hours++) {
    tries += await send()
    server.clock.forward({ hours: 1 })
  }
  expect(await waiting()).toEqual([])
  expect(tries).toBeGreaterThanOrEqual(6)
  expect(tries).toBeLessThanOrEqual(8)
  await ask(admin.email)
  await send()
  mailServer.behave('accept')
  server.clock.forward({ minutes: 31 })
  await send()
  expect([mailsTo(admin.email), await waiting()]).toEqual([[], []])
})

test('a process that is stopped while the mail server hangs leaves the email to another one', async () => {
  const { invite } = await newTeam()
  const email = newAddress()
  mailServer.behave('hang')
  await invite(email)
  const [stop, before] = [new AbortController(), mailServer.connections()]
  const sending = send(stop.signal)
  await until('the process is connected', () => mailServer.connections() > before)
  // The console responds, and no other process sends it too.
  expect((await newBrowser(server.url).call('/session')).status).toBe(401)
  mailServer.behave('accept')
  expect(await send()).toBe(0)
  stop.abort()
  await sending
  server.clock.forward({ minutes: 2 })
  await deliver(3)
  expect(mailsTo(email)).toHaveLength(1)
  expect((await readLink(newBrowser(server.url), tokenOf(linkIn(mailsTo(email)[0]?.text ?? '')))).status).toBe(200)
})

test('a mail server that does not respond is given up after a while, and the email is retried', async () => {
  const { invite } = await newTeam()
  mailServer.behave('hang')
  await invite(newAddress())
  expect(await send(undefined, { silenceMs: 200 })).toBe(1)
  expect(await waiting()).toMatchObject([{ error: expect.any(String) }])
})

test('people choose which notifications they get, within their roles', async () => {
  const { id, admin } = await newTeam()
  const [developer, member] = [
    await signedIn(server, { workspaceId: id, role: 'developer' }),
    await signedIn(server, { workspaceId: id, role: 'member' }),
  ]
  const operator = await signedIn(server, { operator: true })
  const wantedBy = async (person: SignedInPerson) => {
    const { body } = await person.call('/account/notifications')
    expect(body.sends_mail).toBe(true)
    expect((await person.call('/sign-in')).body.sends_mail).toBe(true)
    return Object.fromEntries(body.choices.map(({ kind, wanted }: { kind: string; wanted: boolean }) => [kind, wanted]))
  }
  const all = {
    webhook_failing: true,
    webhook_disabled: true,
    credits_low: true,
    key_expiring: true,
    token_expiring: true,
  }
  expect(await wantedBy(admin)).toEqual(all)
  expect(await wantedBy(developer)).toEqual({ ...all, credits_low: false, token_expiring: false })
  expect(await wantedBy(member)).toEqual({})
  expect(await wantedBy(operator)).toEqual({ token_expiring: true })
  const choose = (person: SignedInPerson, kind: string, wanted: boolean) =>
    person.call('/account/notifications', { method: 'PATCH', body: { kind, wanted } })
  expect((await choose(developer, 'webhook_failing', false)).status).toBe(200)
  await choose(developer, 'credits_low', true)
  expect(await wantedBy(developer)).toEqual({ ...all, webhook_failing: false, token_expiring: false })
  expect((await choose(member, 'credits_low', true)).status).toBe(400)
  expect((await choose(admin, 'weather', true)).status).toBe(400)
  expect(await wantedBy(admin)).toEqual(all)
  expect((await newBrowser(server.url).call('/account/notifications')).status).toBe(401)
})

test('a mail server that refuses the connection is quoted no further than its ordinary words', async () => {
  const refusing = createServer((socket) => void socket.end('554 Blocked token-0123456789abcdef\r\n'))
  onTestFinished(() => void refusing.close())
  await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve))
  const { port } = refusing.address() as AddressInfo
  const from = { name: 'Parley', address: 'parley@example.com' }
  const settings = { host: '127.0.0.1', port, secure: false, credentials: null, from }
  await expect(checkSmtp(settings)).rejects.toThrow(/^Invalid greeting\. response=554 Blocked …$/)
})
