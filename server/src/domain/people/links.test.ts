import { expect, test } from 'vitest'
import { goodPassword, newBrowser, signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { invite, newResetLink, newSetupLink } from './links.ts'
import { requirePerson } from './people.ts'

const server = useTestServer()
const post = (body: object) => ({ method: 'POST', body })
const follow = (token: string, body: object) => newBrowser(server.url).call(`/links/${token}`, post(body))

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

test('a setup link makes an existing user an operator', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId, role: 'member' })
  const token = await newSetupLink(server.db, server.clock, null, 'test')
  expect((await follow(token, { email: person.email, password: 'not their password' })).status).toBe(401)
  expect((await person.call('/operator/workspaces')).status).toBe(403)
  expect((await follow(token, { email: person.email, password: goodPassword })).status).toBe(200)
  expect((await person.call('/operator/workspaces')).status).toBe(200)
})

test('joining by invitation is audited once, with the role', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId, role: 'admin' })
  const { data } = (await admin.call(`/w/${workspaceId}/audit`)).body
  expect(data).toMatchObject([{ action: 'member.join', actor: admin.email, after: { role: 'admin' } }])
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
