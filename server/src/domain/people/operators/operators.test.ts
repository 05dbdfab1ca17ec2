import { expect, test } from 'vitest'
import {
  followLink,
  goodPassword,
  newBrowser,
  readLink,
  type SignedInPerson,
  signedIn,
  tokenOf,
} from '../../../../testing/console.ts'
import { watchLive } from '../../../../testing/live.ts'
import { newPasskey } from '../../../../testing/passkey.ts'
import { serveApi, useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { defaultClientTimeouts } from '../../../http/limits/limits.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { newResetLink } from '../links/links.ts'
import { lockPerson, requirePerson } from '../people.ts'
import { codeAt } from '../sign-in/totp.ts'
import { disablePerson } from './operators.ts'

const limits = { timeouts: { ...defaultClientTimeouts, streamCheckMs: 3_600_000 } }
const server = useTestServer({ limits })
const strict = useTestServer({ env: { PARLEY_OPERATOR_TWO_FACTOR: 'required' } })
const post = (body: object = {}) => ({ method: 'POST', body })
const idOf = async (person: SignedInPerson): Promise<string> => (await person.call('/session')).body.person.id

const signIn = async (url: string, email: string, password = goodPassword) => {
  const browser = newBrowser(url)
  return { ...(await browser.call('/sign-in', post({ email, password }))), browser }
}

async function setUpApp(person: SignedInPerson, now = server.clock) {
  const { secret } = (await person.call('/account/totp', { method: 'POST' })).body
  const verify = post({ code: codeAt(secret, now.now()) })
  expect((await person.call('/account/totp/verify', verify)).status).toBe(204)
  now.forward({ seconds: 31 })
  return () => post({ code: codeAt(secret, now.now()), kind: 'totp' })
}

test('an operator without a second factor can only set one up, if the installation requires it', async () => {
  const { id: workspaceId } = await newWorkspace(strict)
  const operator = await signedIn(strict, { operator: true, workspaceId })
  const paths = ['/operator/workspaces', `/w/${workspaceId}/team`, `/w/${workspaceId}/live`]
  for (const path of paths) {
    expect(await operator.call(path), path).toMatchObject({
      status: 403,
      body: { error: { code: 'two_factor_required', message: expect.stringContaining('Operators need') } },
    })
  }
  const mustSetUp = async () => (await operator.call('/session')).body.person.must_set_up_two_factor
  expect(await mustSetUp()).toBe(true)
  await setUpApp(operator, strict.clock)
  expect(await mustSetUp()).toBe(false)
  for (const path of paths.slice(0, 2)) expect((await operator.call(path)).status, path).toBe(200)

  const member = await signedIn(strict, { workspaceId, role: 'admin' })
  expect((await member.call(`/w/${workspaceId}/team`)).status).toBe(200)
  const relaxed = await signedIn(server, { operator: true })
  expect((await relaxed.call('/operator/workspaces')).status).toBe(200)
})

test('a passkey counts as the second factor of an operator, who then has to sign in with it', async () => {
  const operator = await signedIn(strict, { operator: true })
  const passkey = newPasskey()
  expect((await passkey.register(operator, 'Laptop')).status).toBe(201)
  expect((await operator.call('/operator/workspaces')).status).toBe(200)
  const withPassword = await signIn(strict.url, operator.email)
  expect([withPassword.status, withPassword.body.error.code]).toEqual([403, 'passkey_required'])
  expect((await withPassword.browser.call('/session')).status).toBe(401)
  expect((await signIn(strict.url, operator.email, 'wrong and long enough')).status).toBe(401)
  const browser = newBrowser(strict.url)
  expect((await passkey.signIn(browser)).status).toBe(200)
  expect((await browser.call('/operator/workspaces')).status).toBe(200)
})

test('the first passkey of an operator ends the sessions that began with the password alone', async () => {
  const operator = await signedIn(strict, { operator: true })
  const { browser: other } = await signIn(strict.url, operator.email)
  await newPasskey().register(operator, 'Laptop')
  expect((await other.call('/session')).status).toBe(401)
  expect((await operator.call('/operator/workspaces')).status).toBe(200)
  const passkey = newPasskey()
  await passkey.register(operator, 'Phone')
  const phone = newBrowser(strict.url)
  await passkey.signIn(phone)
  await newPasskey().register(operator, 'Tablet')
  expect((await phone.call('/session')).status).toBe(200)
})

test('a person with a passkey cannot become an operator with the password alone', async () => {
  const { id: workspaceId } = await newWorkspace(strict)
  const operator = await signedIn(strict, { operator: true })
  await setUpApp(operator, strict.clock)
  const member = await signedIn(strict, { workspaceId, role: 'member' })
  await newPasskey().register(member, 'Laptop')
  expect((await signIn(strict.url, member.email)).status).toBe(200)
  await strict.db.change('update people set operator = true where email = $1', [member.email])
  expect((await signIn(strict.url, member.email)).status).toBe(403)
})

test('disabling a person ends their sessions and streams in every process, and every way to sign in', async () => {
  const other = await serveApi(server, newLogger('silent'), { limits })
  try {
    const operator = await signedIn(server, { operator: true })
    const [ours, theirs] = [await newWorkspace(server), await newWorkspace(server)]
    const person = await signedIn(server, { workspaceId: ours.id, role: 'member' })
    const id = await idOf(person)
    const code = await setUpApp(person)
    const passkey = newPasskey()
    await passkey.register(person, 'Laptop')
    const { browser: pending } = await signIn(server.url, person.email)
    const act = (what: string) => operator.call(`/operator/people/${id}/${what}`, { method: 'POST' })
    const reset = tokenOf((await act('reset-link')).body.url)
    const admin = await signedIn(server, { workspaceId: theirs.id, role: 'admin' })
    const invited = await admin.call(`/w/${theirs.id}/team/invites`, post({ email: person.email, role: 'member' }))
    const streams = [await watchLive(server.url, person, ours.id), await watchLive(other.url, person, ours.id)]

    expect((await act('disable')).status).toBe(204)
    expect((await person.call('/session')).status).toBe(401)
    for (const stream of streams) await until('the stream ends', () => stream.ended)
    const refused = { status: 403, body: { error: { code: 'account_disabled' } } }
    expect(await signIn(server.url, person.email)).toMatchObject(refused)
    expect((await signIn(server.url, person.email, 'wrong and long enough')).status).toBe(401)
    expect(await passkey.signIn(newBrowser(server.url))).toMatchObject(refused)
    expect((await pending.call('/sign-in/code', code())).status).toBe(401)
    expect((await readLink(newBrowser(server.url), reset)).status).toBe(410)
    expect((await followLink(newBrowser(server.url), reset, { password: 'nine patient herons' })).status).toBe(410)
    const join = () => followLink(newBrowser(server.url), tokenOf(invited.body.url), { password: goodPassword })
    expect(await join()).toMatchObject(refused)
    expect((await act('reset-link')).status).toBe(409)
    expect((await act('disable')).status).toBe(409)
    const { data } = (await operator.call('/operator/people')).body
    expect(data.find((each: { id: string }) => each.id === id).disabled_at).toBe(server.clock.now().toISOString())

    expect((await act('enable')).status).toBe(204)
    expect((await act('enable')).status).toBe(409)
    const again = await signIn(server.url, person.email)
    expect(again.body).toEqual({ next: 'second_factor' })
    expect((await again.browser.call('/sign-in/code', code())).status).toBe(200)
    const actions = await server.db.rows<{ action: string }>(
      `select action from audit_entries where target = $1 and action in ('person.disable', 'person.enable') order by at, id`,
      [id],
    )
    expect(actions.map(({ action }) => action)).toEqual(['person.disable', 'person.enable'])
  } finally {
    await other.close()
  }
})

test('disabling a person ends a sign-in and a password reset that run at the same time', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId, role: 'member' })
  const id = await idOf(person)
  const reset = await newResetLink(server.db, server.clock, await requirePerson(server.db, id), 'test')
  const pending = await server.db.transaction(async (tx) => {
    await lockPerson(tx, id)
    // Both wait for the lock, with what they read before.
    const attempts = [
      signIn(server.url, person.email),
      followLink(newBrowser(server.url), reset, { password: 'nine patient herons' }),
    ]
    await until('both wait for the lock', async () => {
      const waiting = await server.db.first<{ count: number }>(
        `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return waiting?.count === 2
    })
    await disablePerson(tx, server.clock, id)
    return attempts
  })
  expect((await Promise.all(pending)).map(({ status }) => status)).toEqual([403, 410])
  expect(await server.db.rows('select id from sessions where person_id = $1', [id])).toEqual([])
})

test('the last operator cannot be disabled, even if two disable each other at the same time', async () => {
  await strict.db.change('update people set operator = false')
  const [one, two] = [await signedIn(strict, { operator: true }), await signedIn(strict, { operator: true })]
  for (const operator of [one, two]) await setUpApp(operator, strict.clock)
  const ids = [await idOf(one), await idOf(two)]
  const disable = (by: SignedInPerson, id = '') => by.call(`/operator/people/${id}/disable`, { method: 'POST' })
  const responses = await Promise.all([disable(one, ids[1]), disable(two, ids[0])])
  expect(responses.filter(({ status }) => status === 204)).toHaveLength(1)
  const [last, lastId] = responses[0]?.status === 204 ? [one, ids[0]] : [two, ids[1]]
  expect(await disable(last, lastId)).toMatchObject({
    status: 409,
    body: { error: { message: expect.stringContaining('is the last operator') } },
  })
})
