import { beforeEach, expect, test } from 'vitest'
import { goodPassword, newBrowser, signedIn } from '../../../../testing/console.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { codeAt } from './totp.ts'

const server = useTestServer()

/** All tests have the same client address, which gets five attempts for each of 16 groups of email addresses. */
beforeEach(async () => void (await server.db.change('delete from sign_in_tries')))

const post = (body: object) => ({ method: 'POST', body })

async function personWithApp() {
  const person = await signedIn(server, { operator: true })
  const { secret, backup_codes: codes } = (await person.call('/account/totp', { method: 'POST' })).body
  await person.call('/account/totp/verify', post({ code: codeAt(secret, server.clock.now()) }))
  server.clock.forward({ seconds: 31 })
  const password = post({ email: person.email, password: goodPassword })
  return { ...person, codes: codes as string[], password, code: () => codeAt(secret, server.clock.now()) }
}

const countOf = (responses: { status: number }[], status: number) =>
  responses.filter((response) => response.status === status).length

test('of many concurrent wrong passwords, only five are checked', async () => {
  const person = await signedIn(server, { operator: true })
  const guesses = Array.from({ length: 30 }, (_, index) =>
    newBrowser(server.url).call('/sign-in', post({ email: person.email, password: `guess number ${index}` })),
  )
  const responses = await Promise.all(guesses)
  expect([countOf(responses, 401), countOf(responses, 429)]).toEqual([5, 25])
})

test('of many concurrent wrong codes, only five are checked', async () => {
  const person = await personWithApp()
  const browser = newBrowser(server.url)
  await browser.call('/sign-in', person.password)
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      browser.call('/sign-in/code', post({ code: `00000${index}`.slice(-6), kind: index % 2 ? 'totp' : 'backup' })),
    ),
  )
  expect([countOf(responses, 401), countOf(responses, 429)]).toEqual([5, 55])
})

test('a correct password does not allow more code attempts, and each lockout is longer than the last', async () => {
  const person = await personWithApp()
  const browser = newBrowser(server.url)
  const wrong = () => browser.call('/sign-in/code', post({ code: 'wrong', kind: 'backup' }))
  for (let index = 0; index < 5; index++) {
    expect((await browser.call('/sign-in', person.password)).body).toEqual({ next: 'second_factor' })
    expect((await wrong()).status).toBe(401)
  }
  expect((await wrong()).headers.get('retry-after')).toBe('60')
  server.clock.forward({ seconds: 61 })
  expect((await browser.call('/sign-in', person.password)).status).toBe(200)
  expect((await wrong()).status).toBe(401)
  expect((await wrong()).headers.get('retry-after')).toBe('120')
  server.clock.forward({ seconds: 121 })
  expect((await browser.call('/sign-in', person.password)).status).toBe(200)
  expect((await browser.call('/sign-in/code', post({ code: person.code(), kind: 'totp' }))).status).toBe(200)
  expect((await newBrowser(server.url).call('/sign-in', person.password)).status).toBe(200)
})

test('if the TOTP secret cannot be decrypted, a code gets 503 with the reason, and a backup code still works', async () => {
  const person = await personWithApp()
  await server.db.change(
    `update people set totp_sealed = 'lost' || substring(totp_sealed from position(':' in totp_sealed)) where email = $1`,
    [person.email],
  )
  const browser = newBrowser(server.url)
  await browser.call('/sign-in', person.password)
  for (let index = 0; index < 6; index++) {
    expect(await browser.call('/sign-in/code', post({ code: person.code(), kind: 'totp' }))).toMatchObject({
      status: 503,
      body: { error: { code: 'service_unavailable', message: expect.stringContaining('PARLEY_SECRET_KEYS') } },
    })
  }
  const backup = post({ code: person.codes[0], kind: 'backup' })
  expect((await browser.call('/sign-in/code', backup)).body).toEqual({ next: 'done' })
  expect((await browser.call('/account/totp/disable', { method: 'POST' })).status).toBe(204)
})

test('setting up a second authenticator app gets 409 and keeps the first', async () => {
  const person = await signedIn(server, { operator: true })
  const { secret } = (await person.call('/account/totp', { method: 'POST' })).body
  await person.call('/account/totp/verify', post({ code: codeAt(secret, server.clock.now()) }))
  expect((await person.call('/account/totp', { method: 'POST' })).status).toBe(409)
  expect((await person.call('/session')).body.person.two_factor).toBe(true)
})
