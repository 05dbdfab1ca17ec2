import { expect, test } from 'vitest'
import { type Browser, goodPassword, newBrowser, signedIn } from '../../../../testing/console.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { consoleRoutes } from '../../../console.ts'
import { fullPath } from '../../../http/console/route.ts'

/** Attacks on signing in, from clients with different addresses. */
const server = useTestServer({ trustProxy: ['127.0.0.1'], env: { PARLEY_SIGN_IN_RATE: '50' } })

const wrong = 'wrong and long enough'
let count = 0
const newAddress = () => `198.51.${100 + Math.floor(++count / 250)}.${count % 250}`
const newEmail = () => `unknown${++count}@example.com`

const from = (address: string) => ({ 'x-forwarded-for': address })
const signIn = (address: string, email: string, password: string, browser: Browser = newBrowser(server.url)) =>
  browser.call('/sign-in', { method: 'POST', body: { email, password }, headers: from(address) })
const statusesOf = (responses: { status: number }[]) => responses.map(({ status }) => status)
const countOf = (responses: { status: number }[], status: number) =>
  statusesOf(responses).filter((each) => each === status).length

/** Attempts with a wrong password, one after the other, each from its own address. */
async function attack(email: string, addresses: readonly string[]) {
  const responses = []
  for (const address of addresses) responses.push(await signIn(address, email, wrong))
  return responses
}
const newAddresses = (length: number) => Array.from({ length }, newAddress)

const storedRows = async () =>
  (
    await server.db.first<{ count: number }>(
      `select (select count(*) from sign_in_tries) + (select count(*) from account_tries)
         + (select count(*) from challenges) + (select count(*) from audit_entries) as count`,
    )
  )?.count ?? 0

test('a flood of sign-ins from one address does not keep others from signing in', async () => {
  const [person, attacker] = [await signedIn(server, { operator: true }), newAddress()]
  const before = await storedRows()
  let onRefused = () => {}
  const refused = new Promise<void>((resolve) => {
    onRefused = resolve
  })
  const flood = Array.from({ length: 40 }, async () => {
    const response = await signIn(attacker, newEmail(), wrong)
    if (response.status !== 401) onRefused()
    return response
  })
  await refused
  expect((await signIn(newAddress(), person.email, goodPassword)).status).toBe(200)
  const responses = await Promise.all(flood)
  expect(countOf(responses, 401) + countOf(responses, 429)).toBe(40)
  expect(countOf(responses, 429)).toBeGreaterThan(0)
  for (const { headers } of responses.filter(({ status }) => status === 429)) {
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  const metrics = await (await fetch(`${server.url}/metrics`)).text()
  const counted = /^parley_sign_in_refused_total\{code="too_many_attempts"\} (\d+)$/m.exec(metrics)?.[1]
  expect(Number(counted)).toBe(countOf(responses, 429))
  // Wrong passwords are no limits.
  expect(metrics.match(/^parley_sign_in_refused_total\{/gm)).toHaveLength(1)
  // 16 rows of the attacker's address, and one each for the audit entry and the account of the person who signed in.
  expect((await storedRows()) - before).toBeLessThanOrEqual(18)
})

test('five wrong passwords lock the address that sent them, and no other', async () => {
  const person = await signedIn(server, { operator: true })
  const attacker = newAddress()
  const responses = await attack(person.email, Array<string>(6).fill(attacker))
  expect(statusesOf(responses)).toEqual([401, 401, 401, 401, 401, 429])
  expect((await signIn(attacker, person.email, goodPassword)).status).toBe(429)
  expect((await signIn(newAddress(), person.email, goodPassword)).status).toBe(200)
})

test('the addresses of an IPv6 /64 count as one', async () => {
  const person = await signedIn(server, { operator: true })
  const addresses = ['1', '2', '3', '4:5', '6:7:8', 'ffff'].map((end) => `2001:db8:1:1::${end}`)
  expect(statusesOf(await attack(person.email, addresses))).toEqual([401, 401, 401, 401, 401, 429])
  expect((await signIn('2001:db8:1:2::1', person.email, goodPassword)).status).toBe(200)
})

test('an attack from many addresses gets 20 attempts per hour, whether the account exists or not', async () => {
  const person = await signedIn(server, { operator: true })
  for (const email of [person.email, newEmail()]) {
    const responses = await attack(email, newAddresses(25))
    expect([countOf(responses, 401), countOf(responses, 429)]).toEqual([20, 5])
    expect(responses.at(-1)?.headers.get('retry-after')).toBe('3600')
    const stored = await storedRows()
    expect((await signIn(newAddress(), email, goodPassword)).status).toBe(429)
    expect(await storedRows()).toBe(stored)
  }
  server.clock.forward({ minutes: 61 })
  expect((await signIn(newAddress(), person.email, goodPassword)).status).toBe(200)
})

test('an attack does not affect a browser that signed in before, nor an open session', async () => {
  const person = await signedIn(server, { operator: true })
  const [regular, home] = [newBrowser(server.url), newAddress()]
  expect((await signIn(home, person.email, goodPassword, regular)).status).toBe(200)
  expect((await regular.call('/sign-out', { method: 'POST' })).status).toBe(204)
  await attack(person.email, [...newAddresses(25), ...Array<string>(6).fill(home)])
  expect((await signIn(newAddress(), person.email, goodPassword)).status).toBe(429)
  expect((await signIn(home, person.email, goodPassword)).status).toBe(429)
  expect((await signIn(home, person.email, goodPassword, regular)).status).toBe(200)
  expect((await person.call('/confirm', { method: 'POST', body: { password: goodPassword } })).status).toBe(200)
  const password = { current: goodPassword, next: 'eight loud badgers' }
  expect((await person.call('/account/password', { method: 'POST', body: password })).status).toBe(204)
})

test('the browser cookie is HttpOnly, and helps only with the account that signed in', async () => {
  const [person, other] = [await signedIn(server, { operator: true }), await signedIn(server, { operator: true })]
  const [browser, address] = [newBrowser(server.url), newAddress()]
  const { headers } = await signIn(address, other.email, goodPassword, browser)
  const cookie = headers.getSetCookie().find((line) => line.startsWith('parley-browser='))
  expect(cookie).toMatch(/; HttpOnly; SameSite=Lax; Max-Age=31536000$/)
  expect(cookie).not.toContain(other.email)
  await attack(person.email, [address, address, address])
  // Two more of the five attempts of this address are left.
  const responses = []
  for (let attempt = 0; attempt < 3; attempt++) responses.push(await signIn(address, person.email, wrong, browser))
  expect(statusesOf(responses)).toEqual([401, 401, 429])
  const forged = newBrowser(server.url)
  forged.cookies.set('parley-browser', `test:${Buffer.alloc(80).toString('base64')}`)
  expect((await signIn(address, person.email, goodPassword, forged)).status).toBe(429)
})

test('a known browser has five attempts of its own', async () => {
  const person = await signedIn(server, { operator: true })
  const responses = []
  for (let attempt = 0; attempt < 6; attempt++) {
    responses.push(await signIn(newAddress(), person.email, wrong, person))
  }
  expect(statusesOf(responses)).toEqual([401, 401, 401, 401, 401, 429])
  expect((await signIn(newAddress(), person.email, goodPassword)).status).toBe(200)
})

test('wrong passwords in a session lock that session only', async () => {
  const person = await signedIn(server, { operator: true })
  const other = newBrowser(server.url)
  await signIn(newAddress(), person.email, goodPassword, other)
  const confirm = (browser: Browser, password: string) =>
    browser.call('/confirm', { method: 'POST', body: { password } })
  const responses = []
  for (let attempt = 0; attempt < 6; attempt++) responses.push(await confirm(person, wrong))
  expect(statusesOf(responses)).toEqual([401, 401, 401, 401, 401, 429])
  expect((await confirm(other, goodPassword)).status).toBe(200)
})

test('every route that needs no session has a limit per client address and minute', async () => {
  const routes = consoleRoutes(server.runtime).filter(({ who }) => who === 'anyone')
  expect(routes.length).toBeGreaterThan(4)
  const limit = server.runtime.config.signInRequestsPerMinute
  for (const route of routes) {
    const path = fullPath(route).slice('/console/api'.length)
    const address = newAddress()
    const call = (client: string) =>
      newBrowser(server.url).call(path, {
        method: route.method,
        headers: from(client),
        ...(route.method === 'GET' ? {} : { body: {} }),
      })
    const allowed = await Promise.all(Array.from({ length: limit }, () => call(address)))
    expect(countOf(allowed, 429), path).toBe(0)
    const stored = await storedRows()
    const refused = await call(address)
    expect(refused, path).toMatchObject({ status: 429, body: { error: { code: 'too_many_attempts' } } })
    expect(refused.headers.get('retry-after'), path).toBe('60')
    expect(await storedRows(), path).toBe(stored)
    expect((await call(newAddress())).status, path).not.toBe(429)
    server.clock.forward({ seconds: 60 })
    expect((await call(address)).status, path).not.toBe(429)
  }
})
