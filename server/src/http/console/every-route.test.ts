import { randomUUID } from 'node:crypto'
import { can, type Permission } from '@parley/contract/console/permissions'
import { beforeAll, expect, test } from 'vitest'
import { newBrowser, type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { consoleRoutes } from '../../console.ts'
import { type ConsoleRoute, fullPath, isWorkspaceRoute } from './route.ts'

/** Rules that every route of the console has to follow. */
const server = useTestServer()
let workspaceId: string
let admin: SignedInPerson
let member: SignedInPerson
let operator: SignedInPerson
let stranger: SignedInPerson
let routes: ConsoleRoute[]

beforeAll(async () => {
  routes = consoleRoutes(server.runtime)
  workspaceId = (await newWorkspace(server)).id
  const elsewhere = (await newWorkspace(server)).id
  admin = await signedIn(server, { workspaceId, role: 'admin' })
  member = await signedIn(server, { workspaceId, role: 'member' })
  stranger = await signedIn(server, { workspaceId: elsewhere, role: 'admin' })
  operator = await signedIn(server, { operator: true })
})

/** A path of the route, with random IDs in the required format. */
function addressOf(route: ConsoleRoute, workspace = workspaceId): string {
  const properties = (route.params as { properties?: Record<string, { pattern?: string }> } | undefined)?.properties
  return fullPath(route)
    .slice('/console/api'.length)
    .replace(':workspace', workspace)
    .replaceAll(/:(\w+)/g, (_, name: string) => {
      const pattern = properties?.[name]?.pattern ?? ''
      if (name === 'index') return '0'
      if (name === 'contact') return '16505550123'
      if (name === 'code') return 'not_found'
      return (/^\^([a-z]+_)/.exec(pattern)?.[1] ?? '') + randomUUID()
    })
}

const nameOf = (route: ConsoleRoute) => `${route.method} ${fullPath(route)}`
const changing = () => routes.filter(({ method }) => method !== 'GET')

test('requests from other origins cannot change anything', async () => {
  const hostile: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: server.url.replace('127.0.0.1', 'evil.127.0.0.1') },
    { origin: `${server.url}.evil.example` },
    { 'sec-fetch-site': 'same-site' },
    { 'content-type': 'text/plain' },
  ]
  for (const route of changing()) {
    for (const headers of hostile) {
      const { status } = await admin.call(addressOf(route), { method: route.method, body: {}, headers })
      expect(status, `${nameOf(route)} ${JSON.stringify(headers)}`).toBe('content-type' in headers ? 415 : 403)
    }
    const cookie = `parley-session=${admin.cookies.get('parley-session')}`
    const withoutOrigin = await fetch(`${server.url}/console/api${addressOf(route)}`, {
      method: route.method,
      headers: { cookie },
    })
    expect(withoutOrigin.status, nameOf(route)).toBe(403)
  }
})

test('every route except the public ones requires a session', async () => {
  for (const route of routes.filter(({ who }) => who !== 'anyone')) {
    const { status, body } = await newBrowser(server.url).call(addressOf(route), { method: route.method })
    expect([status, body.error.code], nameOf(route)).toEqual([401, 'not_signed_in'])
  }
})

test('a role is limited to its permissions, and operator routes to operators', async () => {
  for (const route of routes) {
    const inWorkspace = isWorkspaceRoute(route)
    if (inWorkspace && can('member', route.who as Permission)) continue
    if (!inWorkspace && route.who !== 'operator') continue
    const { status, body } = await (inWorkspace ? member : admin).call(addressOf(route), { method: route.method })
    expect([status, body.error?.code], nameOf(route)).toEqual([403, 'not_permitted'])
  }
})

test('a workspace of others gets the same 404 as an unknown one, also for operators', async () => {
  const masked = ({ status, body }: { status: number; body: { error: object } }) => ({
    status,
    error: { ...body.error, request_id: '' },
  })
  for (const route of routes.filter(isWorkspaceRoute)) {
    for (const person of [stranger, operator]) {
      const theirs = await person.call(addressOf(route), { method: route.method })
      const unknown = await person.call(addressOf(route, randomUUID()), { method: route.method })
      expect(masked(theirs), nameOf(route)).toEqual(masked(unknown))
      expect(theirs.status, nameOf(route)).toBe(404)
    }
  }
})

test('unknown fields in the body are refused', async () => {
  const extraFields = {
    workspace_id: randomUUID(),
    person_id: randomUUID(),
    operator: true,
    status: 'x',
    created_by: 'x',
  }
  const accepted: string[] = []
  for (const route of changing()) {
    const person = route.who === 'operator' ? operator : admin
    const { status } = await person.call(addressOf(route), { method: route.method, body: extraFields })
    if (status !== 400) accepted.push(`${nameOf(route)} ${status}`)
  }
  expect(accepted).toEqual([])
})

test('text that cannot be stored and invalid times are validation errors, not internal errors', async () => {
  const nul = 'a\0b'
  const strangeBodies: [string, string, object][] = [
    ['POST', '/sign-in', { email: `${nul}@example.com`, password: nul }],
    ['PATCH', '/account', { name: nul }],
    ['PATCH', `/w/${workspaceId}/settings`, { name: nul }],
    ['POST', `/w/${workspaceId}/team/invites`, { email: `${nul}@example.com`, role: 'member' }],
    ['POST', '/sign-in/passkey', { response: { id: nul } }],
  ]
  for (const [method, path, body] of strangeBodies) {
    expect((await admin.call(path, { method, body })).body.error, path).toMatchObject({
      code: 'validation_failed',
      errors: [{ code: 'invalid_characters' }, ...(path === '/sign-in' ? [{ param: 'password' }] : [])],
    })
  }
  const queries = ['audit?actor=%00', 'forms?flow=%00', 'forms?from=2026-02-30T00:00:00Z', 'forms?to=0000-01-01T00:00Z']
  for (const query of [...queries, 'forms?from=2026-01-01T00:00:00%2B23:59']) {
    expect((await admin.call(`/w/${workspaceId}/${query}`)).status, query).toBe(400)
  }
})
