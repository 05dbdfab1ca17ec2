import { randomUUID } from 'node:crypto'
import { can, type Permission } from '@parley/contract/console/permissions'
import { beforeAll, expect, test } from 'vitest'
import { newBrowser, type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { consoleRoutes } from '../../console.ts'
import { type ConsoleRoute, fullPath, isWorkspaceRoute } from './route.ts'

/** Every route of the console, and what must hold for each whatever it is for. */
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

/** An address of the route: ids have the shape that it asks for, and are nobody's. */
function addressOf(route: ConsoleRoute, workspace = workspaceId): string {
  const properties = (route.params as { properties?: Record<string, { pattern?: string }> } | undefined)?.properties
  return fullPath(route)
    .slice('/console/api'.length)
    .replace(':workspace', workspace)
    .replaceAll(/:(\w+)/g, (_, name: string) => {
      const pattern = properties?.[name]?.pattern ?? ''
      if (name === 'index') return '0'
      if (name === 'code') return 'not_found'
      return (/^\^([a-z]+_)/.exec(pattern)?.[1] ?? '') + randomUUID()
    })
}

const nameOf = (route: ConsoleRoute) => `${route.method} ${fullPath(route)}`
const changing = () => routes.filter(({ method }) => method !== 'GET')

test('nobody but the console itself changes anything', async () => {
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
    const silent = await fetch(`${server.url}/console/api${addressOf(route)}`, {
      method: route.method,
      headers: { cookie },
    })
    expect(silent.status, nameOf(route)).toBe(403)
  }
})

test('without a session there is nothing to see', async () => {
  for (const route of routes.filter(({ who }) => who !== 'anyone')) {
    const { status, body } = await newBrowser(server.url).call(addressOf(route), { method: route.method })
    expect([status, body.error.code], nameOf(route)).toEqual([401, 'not_signed_in'])
  }
})

test('a role gets no further than its permissions, and only an operator operates', async () => {
  for (const route of routes) {
    const isWorkspaces = isWorkspaceRoute(route)
    if (isWorkspaces && can('member', route.who as Permission)) continue
    if (!isWorkspaces && route.who !== 'operator') continue
    const { status, body } = await (isWorkspaces ? member : admin).call(addressOf(route), { method: route.method })
    expect([status, body.error?.code], nameOf(route)).toEqual([403, 'not_permitted'])
  }
})

test('another’s workspace answers as one that never was, to operators too', async () => {
  const masked = ({ status, body }: { status: number; body: { error: object } }) => ({
    status,
    error: { ...body.error, request_id: '' },
  })
  for (const route of routes.filter(isWorkspaceRoute)) {
    for (const person of [stranger, operator]) {
      const theirs = await person.call(addressOf(route), { method: route.method })
      const nowhere = await person.call(addressOf(route, randomUUID()), { method: route.method })
      expect(masked(theirs), nameOf(route)).toEqual(masked(nowhere))
      expect(theirs.status, nameOf(route)).toBe(404)
    }
  }
})

test('no field is taken that a route does not name', async () => {
  const smuggled = { workspace_id: randomUUID(), person_id: randomUUID(), operator: true, status: 'x', created_by: 'x' }
  const taken: string[] = []
  for (const route of changing()) {
    const person = route.who === 'operator' ? operator : admin
    const { status } = await person.call(addressOf(route), { method: route.method, body: smuggled })
    if (status !== 400) taken.push(`${nameOf(route)} ${status}`)
  }
  expect(taken).toEqual([])
})

test('text that cannot be kept, and times that never were, are named and not a fault of ours', async () => {
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
