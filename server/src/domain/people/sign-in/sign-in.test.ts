import { beforeEach, expect, test } from 'vitest'
import { followLink, goodPassword, newBrowser, readLink, signedIn } from '../../../../testing/console.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { newSetupLink } from '../links/links.ts'
import { codeAt } from './totp.ts'

const server = useTestServer()

/** All tests have the same client address, which gets five attempts for each of 16 groups of email addresses. */
beforeEach(async () => void (await server.db.change('delete from sign_in_tries')))

const nextTotpStep = () => server.clock.forward({ seconds: 31 })

test('a setup link creates an operator who is an admin of the workspace, and works once', async () => {
  const workspace = await newWorkspace(server, 'First')
  const token = await newSetupLink(server.db, server.clock, workspace.id, 'test')
  const browser = newBrowser(server.url)
  expect((await readLink(browser, token)).body).toMatchObject({
    kind: 'setup',
    email: null,
    workspace_name: 'First',
    role: 'admin',
  })
  const body = { name: 'Ada', email: 'Ada@Example.com', password: goodPassword }
  expect(await followLink(browser, token, body)).toMatchObject({
    status: 200,
    body: { next: 'done' },
  })
  expect((await browser.call('/session')).body).toMatchObject({
    person: { name: 'Ada', email: 'ada@example.com', operator: true, two_factor: false },
    workspaces: [{ id: workspace.id, name: 'First', role: 'admin', suspended: false }],
  })
  const again = await followLink(newBrowser(server.url), token, body)
  expect(again).toMatchObject({ status: 410, body: { error: { code: 'link_expired' } } })
})

test('no session begins without its audit entry, and the correct password does not count as a failure', async () => {
  const person = await signedIn(server, { operator: true })
  const sessions = () => server.db.rows('select id from sessions order by id')
  const failures = () => server.db.rows('select subject, failures from sign_in_tries order by 1')
  const before = [await sessions(), await failures()]
  const body = { email: person.email, password: goodPassword }
  await server.db.change(`alter table audit_entries add constraint refuses check (action <> 'session.begin') not valid`)
  try {
    expect((await newBrowser(server.url).call('/sign-in', { method: 'POST', body })).status).toBe(500)
  } finally {
    await server.db.change('alter table audit_entries drop constraint refuses')
  }
  expect([await sessions(), await failures()]).toEqual(before)
})

test('no session, a stored token digest or a preset cookie gets 401', async () => {
  const stranger = newBrowser(server.url)
  expect(await stranger.call('/session')).toMatchObject({ status: 401, body: { error: { code: 'not_signed_in' } } })
  const person = await signedIn(server, { operator: true })
  const [row] = await server.db.rows<{ digest: string }>(`select encode(token_digest, 'hex') as digest from sessions`)
  for (const value of [row?.digest ?? '', Buffer.from(row?.digest ?? '', 'hex').toString('base64url'), 'preset']) {
    stranger.cookies.set('parley-session', value)
    expect((await stranger.call('/session')).status).toBe(401)
  }
  await stranger.call('/sign-in', { method: 'POST', body: { email: person.email, password: goodPassword } })
  expect(stranger.cookies.get('parley-session')).not.toBe('preset')
  expect((await stranger.call('/session')).status).toBe(200)
})

test('a wrong password and an unknown email get the same error, and five in a row lock the account', async () => {
  const person = await signedIn(server, { operator: true })
  for (const email of [person.email, 'unknown@example.com']) {
    const browser = newBrowser(server.url)
    const attempt = () =>
      browser.call('/sign-in', { method: 'POST', body: { email, password: 'wrong and long enough' } })
    const responses = []
    for (let index = 0; index < 6; index++) responses.push(await attempt())
    expect(responses.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429])
    expect(responses[0]?.body.error).toMatchObject({
      code: 'wrong_credentials',
      message: 'Wrong email address or password.',
    })
    expect(responses[5]?.headers.get('retry-after')).toBe('60')
    const right = { method: 'POST', body: { email, password: goodPassword } }
    expect((await browser.call('/sign-in', right)).status).toBe(429)
    server.clock.forward({ seconds: 61 })
    expect((await browser.call('/sign-in', right)).status).toBe(email === person.email ? 200 : 401)
  }
  const locks = await server.db.rows<{ actor: string }>(
    `select actor from audit_entries where action = 'session.locked'`,
  )
  expect(locks).toEqual([{ actor: person.email }])
})

test('with an authenticator app, the password alone does not sign in, and a code works once', async () => {
  const person = await signedIn(server, { operator: true })
  const { secret, backup_codes: codes } = (await person.call('/account/totp', { method: 'POST' })).body
  expect(codes).toHaveLength(10)
  const firstCookie = person.cookies.get('parley-session')
  const code = () => codeAt(secret, server.clock.now())
  const wrong = await person.call('/account/totp/verify', { method: 'POST', body: { code: '000000' } })
  expect(wrong.status).toBe(401)
  expect((await person.call('/account/totp/verify', { method: 'POST', body: { code: code() } })).status).toBe(204)
  expect(person.cookies.get('parley-session')).not.toBe(firstCookie)

  const browser = newBrowser(server.url)
  const password = { method: 'POST', body: { email: person.email, password: goodPassword } }
  expect((await browser.call('/sign-in', password)).body).toEqual({ next: 'second_factor' })
  expect((await browser.call('/session')).status).toBe(401)
  const used = { method: 'POST', body: { code: code(), kind: 'totp' } }
  expect((await browser.call('/sign-in/code', used)).status).toBe(401)
  nextTotpStep()
  const fresh = { method: 'POST', body: { code: code(), kind: 'totp' } }
  const other = newBrowser(server.url)
  await other.call('/sign-in', password)
  expect((await browser.call('/sign-in/code', fresh)).body).toEqual({ next: 'done' })
  expect((await browser.call('/session')).body.person.two_factor).toBe(true)
  expect((await other.call('/sign-in/code', fresh)).status).toBe(401)

  const backup = { method: 'POST', body: { code: codes[0].toUpperCase(), kind: 'backup' } }
  expect((await other.call('/sign-in/code', backup)).body).toEqual({ next: 'done' })
  const third = newBrowser(server.url)
  await third.call('/sign-in', password)
  expect((await third.call('/sign-in/code', backup)).status).toBe(401)
})

test('wrong TOTP and backup codes count together and lock the account', async () => {
  const person = await signedIn(server, { operator: true })
  const { secret } = (await person.call('/account/totp', { method: 'POST' })).body
  await person.call('/account/totp/verify', { method: 'POST', body: { code: codeAt(secret, server.clock.now()) } })
  nextTotpStep()
  const browser = newBrowser(server.url)
  const password = { method: 'POST', body: { email: person.email, password: goodPassword } }
  await browser.call('/sign-in', password)
  for (const kind of ['totp', 'backup', 'totp', 'backup', 'totp']) {
    await browser.call('/sign-in/code', { method: 'POST', body: { code: '123456', kind } })
  }
  const right = { method: 'POST', body: { code: codeAt(secret, server.clock.now()), kind: 'totp' } }
  expect((await browser.call('/sign-in/code', right)).status).toBe(429)
  expect((await browser.call('/sign-in', password)).status).toBe(429)
})

test('changing the password needs the current one and ends every other session', async () => {
  const person = await signedIn(server, { operator: true })
  const otherBrowser = newBrowser(server.url)
  await otherBrowser.call('/sign-in', { method: 'POST', body: { email: person.email, password: goodPassword } })
  const before = person.cookies.get('parley-session')
  const change = (current: string, next: string) =>
    person.call('/account/password', { method: 'POST', body: { current, next } })
  expect((await change('not the one, certainly', 'eight loud badgers')).status).toBe(401)
  expect((await change(goodPassword, 'short')).body.error.message).toContain('at least 15 characters')
  expect((await change(goodPassword, 'passwordpassword')).status).toBe(400)
  expect((await change(goodPassword, 'eight loud badgers')).status).toBe(204)
  expect((await otherBrowser.call('/session')).status).toBe(401)
  expect((await person.call('/session')).status).toBe(200)
  expect(person.cookies.get('parley-session')).not.toBe(before)
})

test('idle sessions end: of an admin after 12 hours, of a member after 7 days', async () => {
  const workspace = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const member = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  server.clock.forward({ hours: 11 })
  expect((await admin.call('/session')).status).toBe(200)
  server.clock.forward({ hours: 11 })
  expect((await admin.call('/session')).status).toBe(200)
  server.clock.forward({ hours: 13 })
  expect((await admin.call('/session')).status).toBe(401)
  expect((await member.call('/session')).status).toBe(200)
  server.clock.forward({ hours: 24 * 7 + 1 })
  expect((await member.call('/session')).status).toBe(401)
})

test('cross-site requests are rejected', async () => {
  const person = await signedIn(server, { operator: true })
  const attempts: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/x-www-form-urlencoded' },
  ]
  for (const headers of attempts) {
    const { status } = await person.call('/account', { method: 'PATCH', body: { name: 'Mallory' }, headers })
    expect(status, JSON.stringify(headers)).toBe('content-type' in headers ? 415 : 403)
  }
  const bare = await fetch(`${server.url}/console/api/sign-out`, {
    method: 'POST',
    headers: { cookie: `parley-session=${person.cookies.get('parley-session')}` },
  })
  expect(bare.status).toBe(403)
  expect((await person.call('/session')).body.person.name).not.toBe('Mallory')
})

test('a confirmation expires after ten minutes', async () => {
  const person = await signedIn(server, { operator: true })
  server.clock.forward({ minutes: 11 })
  const begin = () => person.call('/account/totp', { method: 'POST' })
  expect(await begin()).toMatchObject({ status: 403, body: { error: { code: 'confirmation_required' } } })
  const confirm = (body: object) => person.call('/confirm', { method: 'POST', body })
  expect((await confirm({ password: 'surely not this one' })).status).toBe(401)
  expect((await confirm({ password: goodPassword })).status).toBe(200)
  expect((await begin()).status).toBe(200)
})

test('actions are audited without secrets, and audit entries cannot be changed or deleted', async () => {
  const [person, email] = [newBrowser(server.url), 'audited@example.com']
  const token = await newSetupLink(server.db, server.clock, null, 'test')
  await followLink(person, token, { name: 'Ada', email, password: goodPassword })
  await person.call('/account', { method: 'PATCH', body: { name: 'Grace' } })
  await person.call('/sign-out', { method: 'POST' })
  const rows = await server.db.rows<{ action: string }>(
    'select action, before, after, actor from audit_entries where actor = $1 order by at, id',
    [email],
  )
  expect(rows.map(({ action }) => action)).toEqual(['account.setup', 'account.rename', 'session.end'])
  expect(JSON.stringify(rows)).not.toContain(goodPassword)
  await expect(server.db.change('delete from audit_entries')).rejects.toThrow(/permission denied/)
  await expect(server.db.change(`update audit_entries set actor = 'x'`)).rejects.toThrow(/permission denied/)
})
