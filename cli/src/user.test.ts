import { userInfo } from 'node:os'
import { expect, test } from 'vitest'
import { codeAt } from '../../server/src/domain/people/sign-in/totp.ts'
import { followLink, goodPassword, newBrowser, signedIn, tokenOf } from '../../server/testing/console.ts'
import { newPasskey } from '../../server/testing/passkey.ts'
import { urlOf } from '../../server/testing/service.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { newWorkspace } from '../../server/testing/workspace.ts'
import { runParley } from '../testing/run-parley.ts'

/** The `user` commands, against the database of a running service. */
const server = useTestServer()
const post = (body: object = {}) => ({ method: 'POST', body })

const parley = (...words: string[]) =>
  runParley(words, {
    PORT: '0',
    DATABASE_URL: urlOf(server.connection),
    PARLEY_SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    PUBLIC_URL: 'http://parley.test',
  })

async function json(...words: string[]) {
  const { code, out, err } = await parley(...words, '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out)
}

const auditEntry = (action: string, target: string) =>
  server.db.first<{ actor: string; before: unknown; after: unknown }>(
    'select actor, before, after from audit_entries where action = $1 and target = $2',
    [action, target],
  )

/** A person with an authenticator app, two passkeys and an open session. */
async function newPerson() {
  const person = await signedIn(server, { operator: true })
  const { secret, backup_codes: codes } = (await person.call('/account/totp', { method: 'POST' })).body
  await person.call('/account/totp/verify', post({ code: codeAt(secret, server.clock.now()) }))
  const passkeys = [newPasskey(), newPasskey()]
  for (const [index, passkey] of passkeys.entries()) await passkey.register(person, `Passkey ${index + 1}`)
  const { id } = (await person.call('/session')).body.person
  return { ...person, id, codes: codes as string[], passkeys }
}

/** As if the person had set the password with a link that was sent to the address. */
const verifyAddress = (email: string) =>
  server.db.change('update people set email_verified_at = $2 where email = $1', [email, server.clock.now()])

const signIn = async (email: string, password = goodPassword) => {
  const browser = newBrowser(server.url)
  return { ...(await browser.call('/sign-in', post({ email, password }))), browser }
}
const follow = async (url: string, password: string) => {
  const browser = newBrowser(server.url)
  return { ...(await followLink(browser, tokenOf(url), { password })), browser }
}

test('user reset --second-factor immediately removes password, app, codes and passkeys and ends all sessions', async () => {
  const person = await newPerson()
  const { browser: awaitingCode } = await signIn(person.email)
  const { url, ...rest } = await json('user', 'reset', '--email', person.email, '--second-factor')
  expect(rest).toEqual({ email: person.email, second_factor_off: true, passkeys_removed: 2, sessions_ended: 1 })
  expect((await person.call('/session')).status).toBe(401)
  for (const passkey of person.passkeys) expect((await passkey.signIn(newBrowser(server.url))).status).toBe(401)
  expect((await awaitingCode.call('/sign-in/code', post({ code: person.codes[0], kind: 'backup' }))).status).toBe(401)
  expect((await signIn(person.email)).status).toBe(401)
  expect(await auditEntry('person.reset_link', person.id)).toEqual({
    actor: `command line (${userInfo().username})`,
    before: null,
    after: { second_factor_off: true, passkeys_removed: 2, sessions_ended: 1 },
  })
  const { body, browser } = await follow(url, 'nine patient herons')
  expect(body).toEqual({ next: 'done' })
  expect((await browser.call('/session')).body.person).toMatchObject({ two_factor: false, passkeys: 0 })
})

test('user reset ends sessions and removes passkeys when the link is used, and keeps the authenticator app', async () => {
  const person = await newPerson()
  const { url, ...rest } = await json('user', 'reset', '--email', person.email)
  expect(rest).toEqual({ email: person.email, second_factor_off: false, passkeys_removed: 0, sessions_ended: 0 })
  expect((await person.call('/session')).status).toBe(200)
  expect((await follow(url, 'nine patient herons')).body).toEqual({ next: 'second_factor' })
  expect((await person.call('/session')).status).toBe(401)
  for (const passkey of person.passkeys) expect((await passkey.signIn(newBrowser(server.url))).status).toBe(401)
})

test('user list shows passkeys; user passkeys lists and removes them', async () => {
  const person = await newPerson()
  const { data } = await json('user', 'list')
  const { passkeys } = data.find(({ id }: { id: string }) => id === person.id)
  expect(passkeys).toEqual([
    { id: expect.any(String), name: 'Passkey 1', created_at: expect.stringMatching(/Z$/) },
    { id: expect.any(String), name: 'Passkey 2', created_at: expect.stringMatching(/Z$/) },
  ])
  const table = (await parley('user', 'list')).out.split('\n')
  expect(table[0]).toContain('PASSKEYS')
  expect(table.find((line) => line.startsWith(person.email))).toMatch(/yes +2 /)

  expect((await json('user', 'passkeys', '--email', person.email)).data).toEqual(passkeys)
  const [first, second] = passkeys
  const removed = await json('user', 'passkeys', '--email', person.email, '--remove', first.id)
  expect(removed).toEqual({ email: person.email, removed: first })
  expect((await json('user', 'passkeys', '--email', person.email)).data).toEqual([second])
  expect((await person.passkeys[0]?.signIn(newBrowser(server.url)))?.status).toBe(401)
  expect((await person.passkeys[1]?.signIn(newBrowser(server.url)))?.status).toBe(200)
  expect(await auditEntry('person.passkey_remove', person.id)).toEqual({
    actor: `command line (${userInfo().username})`,
    before: { passkey: first.id, name: 'Passkey 1' },
    after: null,
  })
})

test('user list shows people whose invitation is unused as invited', async () => {
  const { id: workspaceId } = await newWorkspace(server, 'Bakery')
  const existing = await signedIn(server, { operator: true })
  const create = (email: string) =>
    json('user', 'create', '--email', email, '--workspace', 'Bakery', '--role', 'developer')
  const { url } = await create('new.person@example.com')
  await create(existing.email)
  const find = async (email: string) =>
    (await json('user', 'list')).data.filter((user: { email: string }) => user.email === email)
  expect(await find('new.person@example.com')).toEqual([
    {
      id: null,
      email: 'new.person@example.com',
      email_verified: false,
      name: null,
      operator: false,
      state: 'invited',
      two_factor: false,
      passkeys: [],
      workspaces: [{ account_id: workspaceId, role: 'developer' }],
      created_at: expect.stringMatching(/Z$/),
      last_seen_at: null,
    },
  ])
  expect(await find(existing.email)).toMatchObject([{ state: 'active' }])
  const table = (await parley('user', 'list')).out.split('\n')
  expect(table.find((line) => line.startsWith('new.person@'))).toContain('developer of Bakery')

  await followLink(newBrowser(server.url), tokenOf(url), { name: 'New', password: goodPassword })
  expect(await find('new.person@example.com')).toMatchObject([{ name: 'New', state: 'active' }])
})

test.each(['00000000-0000-4000-8000-000000000000', 'not-an-id'])(
  'user passkeys --remove %s removes nothing',
  async (id) => {
    const person = await newPerson()
    const { code, err } = await parley('user', 'passkeys', '--email', person.email, '--remove', id)
    expect(code).not.toBe(0)
    expect(err).toContain(`${person.email} has no passkey with the ID "${id}"`)
    expect((await json('user', 'passkeys', '--email', person.email)).data).toHaveLength(2)
  },
)

test('user disable ends sessions and sign-ins immediately, and user enable allows them again', async () => {
  const person = await newPerson()
  const disabled = { email: person.email, state: 'disabled', sessions_ended: 1 }
  expect(await json('user', 'disable', person.email)).toEqual(disabled)
  expect((await person.call('/session')).status).toBe(401)
  expect((await signIn(person.email)).status).toBe(403)
  const stateOf = async () =>
    (await json('user', 'list')).data.find(({ id }: { id: string }) => id === person.id).state as string
  expect(await stateOf()).toBe('disabled')
  expect((await parley('user', 'list')).out).toMatch(new RegExp(`^${person.email} .* disabled `, 'm'))
  const again = await parley('user', 'disable', person.email)
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('is already disabled')])
  expect(await auditEntry('person.disable', person.id)).toEqual({
    actor: expect.stringMatching(/^command line \(.+\)$/),
    before: null,
    after: { sessions_ended: 1 },
  })
  expect(await json('user', 'enable', person.email)).toEqual({ email: person.email, state: 'active' })
  expect(await stateOf()).toBe('active')
  expect((await signIn(person.email)).status).toBe(200)
})

test('user operator --email E --remove takes effect immediately, except for the last operator', async () => {
  await server.db.change('update people set operator = false')
  const { id } = await newWorkspace(server)
  const member = await signedIn(server, { workspaceId: id, role: 'member' })
  const operator = await signedIn(server, { operator: true })
  const last = async (...words: string[]) => {
    const { code, err } = await parley('user', ...words)
    expect([code, err]).toEqual([1, expect.stringContaining(`${operator.email} is the last operator.`)])
  }
  await last('operator', '--email', operator.email, '--remove')
  await last('disable', operator.email)
  await verifyAddress(member.email)
  expect(await json('user', 'operator', '--email', member.email)).toMatchObject({ operator: true })
  expect((await member.call('/operator/workspaces')).status).toBe(200)
  const removed = await json('user', 'operator', '--email', member.email, '--remove')
  expect(removed).toEqual({ email: member.email, operator: false, url: null })
  expect((await member.call('/operator/workspaces')).status).toBe(403)
  const { id: memberId } = (await member.call('/session')).body.person
  const entries = await server.db.rows<{ after: unknown }>(
    `select after from audit_entries where action = 'person.operator' and target = $1 order by at, id`,
    [memberId],
  )
  expect(entries).toEqual([{ after: { operator: true } }, { after: { operator: false } }])
  expect((await parley('user', 'operator', '--remove')).err).toContain('--remove needs --email')
})

test('user operator --email E of an unverified address leaves its owner nothing but a new link', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const owner = await signedIn(server, { workspaceId, role: 'member' })
  const { secret, backup_codes: codes } = (await owner.call('/account/totp', { method: 'POST' })).body
  await owner.call('/account/totp/verify', post({ code: codeAt(secret, server.clock.now()) }))
  const passkey = newPasskey()
  await passkey.register(owner, 'Passkey')
  const { id } = (await owner.call('/session')).body.person
  const { browser: awaitingCode } = await signIn(owner.email)
  const listed = async () => (await json('user', 'list')).data.find((user: { id: string }) => user.id === id)
  expect(await listed()).toMatchObject({ email_verified: false, operator: false })
  expect((await parley('user', 'list')).out).toMatch(new RegExp(`^EMAIL +VERIFIED [^]*^${owner.email} +no `, 'm'))

  const { url, ...promoted } = await json('user', 'operator', '--email', owner.email)
  expect(promoted).toEqual({ email: owner.email, operator: true })
  expect((await owner.call('/session')).status).toBe(401)
  expect((await passkey.signIn(newBrowser(server.url))).status).toBe(401)
  expect((await signIn(owner.email)).status).toBe(401)
  expect((await awaitingCode.call('/sign-in/code', post({ code: codes[0], kind: 'backup' }))).status).toBe(401)
  expect(await auditEntry('person.operator', id)).toMatchObject({
    after: { operator: true, passkeys_removed: 1, sessions_ended: 1 },
  })
  const { body, browser } = await follow(url, 'nine patient herons')
  expect(body).toEqual({ next: 'done' })
  expect((await browser.call('/operator/workspaces')).status).toBe(200)
  // A second time changes nothing: they are an operator.
  expect((await json('user', 'operator', '--email', owner.email)).url).toBeNull()
  expect((await browser.call('/session')).status).toBe(200)
})

test('user operator --email E of a verified address keeps sessions and credentials', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const member = await signedIn(server, { workspaceId, role: 'member' })
  await verifyAddress(member.email)
  const promoted = await json('user', 'operator', '--email', member.email)
  expect(promoted).toEqual({ email: member.email, operator: true, url: null })
  expect((await member.call('/operator/workspaces')).status).toBe(200)
})

test('user create does not invite a member again, whose role the invitation would change', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const { email } = await signedIn(server, { workspaceId, role: 'admin' })
  const words = ['user', 'create', '--email', email.toUpperCase(), '--workspace', workspaceId, '--role', 'member']
  const { code, err } = await parley(...words)
  expect([code, err]).toEqual([1, expect.stringContaining(`${email} is already a member of this workspace.`)])
})
