import { can, type Role, roles } from '@parley/contract/console/permissions'
import { beforeAll, expect, test } from 'vitest'
import { newBrowser, type SignedInPerson, signedIn } from '../testing/console.ts'
import { useTestServer } from '../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../testing/workspace.ts'
import { consoleRoutes } from './console.ts'
import { type ConsoleRoute, isWorkspaceRoute } from './http/console/route.ts'
import { newUuid } from './lib/ids.ts'

const server = useTestServer()
let ours: TestWorkspace
let routes: ConsoleRoute[]
const people = new Map<Role, SignedInPerson>()
let operator: SignedInPerson

beforeAll(async () => {
  ours = await newWorkspace(server, 'Ours')
  for (const role of roles) people.set(role, await signedIn(server, { workspaceId: ours.id, role }))
  operator = await signedIn(server, { operator: true })
  routes = consoleRoutes(server.runtime)
})

const pathOf = (route: ConsoleRoute, workspaceId: string): string =>
  (isWorkspaceRoute(route) ? `/w/${workspaceId}` : '') + route.path.replaceAll(/:\w+/g, newUuid())

/** Calls a route without changing anything: routes that would change data get an invalid body. */
async function responseFor(person: Pick<SignedInPerson, 'call'>, route: ConsoleRoute, workspaceId = ours.id) {
  const { method } = route
  const { status, body } = await person.call(pathOf(route, workspaceId), {
    method,
    ...(method === 'GET' ? {} : { body: { 'no such field': true } }),
  })
  return { status, code: body?.error?.code as string | undefined }
}

test('every workspace route is limited to the roles in the permission table', async () => {
  for (const route of routes.filter(isWorkspaceRoute)) {
    for (const [role, person] of people) {
      const { status, code } = await responseFor(person, route)
      const description = `${role}: ${route.method} ${route.path} responded with ${status} ${code}`
      if (can(role, route.who as Parameters<typeof can>[1])) expect(code, description).not.toBe('not_permitted')
      else expect({ status, code }, description).toEqual({ status: 403, code: 'not_permitted' })
      expect(status, description).not.toBe(500)
    }
  }
})

test('routes return 401 without a session, and 404 for other workspaces and unknown ones', async () => {
  const signedOut = newBrowser(server.url)
  const theirs = await newWorkspace(server, 'Theirs')
  const admin = people.get('admin') as SignedInPerson
  for (const route of routes) {
    const description = `${route.method} ${route.path}`
    if (route.who === 'anyone') continue
    expect(await responseFor(signedOut, route), description).toEqual({ status: 401, code: 'not_signed_in' })
    if (!isWorkspaceRoute(route)) continue
    for (const person of [admin, operator]) {
      expect(await responseFor(person, route, theirs.id), description).toEqual({ status: 404, code: 'not_found' })
      expect(await responseFor(person, route, newUuid()), description).toEqual({ status: 404, code: 'not_found' })
      expect(await responseFor(person, route, 'x'), description).toEqual({ status: 404, code: 'not_found' })
    }
  }
})

test('an admin cannot call operator routes', async () => {
  const admin = people.get('admin') as SignedInPerson
  for (const route of routes.filter(({ who }) => who === 'operator')) {
    const description = `${route.method} ${route.path}`
    expect(await responseFor(admin, route), description).toEqual({ status: 403, code: 'not_permitted' })
    expect((await responseFor(operator, route)).code, description).not.toBe('not_permitted')
  }
})

test('an API key does not work for the console, and a session does not work for /v1', async () => {
  const withKey = newBrowser(server.url)
  const { status } = await withKey.call('/session', { headers: { authorization: `Bearer ${ours.secret}` } })
  expect(status).toBe(401)
  const cookie = [...operator.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(`${server.url}/v1/me`, { headers: { cookie } })
  expect(response.status).toBe(401)
})

test('changes are sent to the live streams of their workspace only', async () => {
  const member = people.get('member') as SignedInPerson
  const other = await newWorkspace(server, 'Other')
  const elsewhere = await signedIn(server, { workspaceId: other.id, role: 'member' })
  const watching = await watch(member, ours.id)
  const watchingOther = await watch(elsewhere, other.id)
  await ours.call('/v1/me')
  await watching.until('requests')
  await other.call('/v1/me')
  await watchingOther.until('requests')
  expect(watchingOther.text().match(/"topic":"requests"/g)).toHaveLength(1)
  expect((await member.call(`/w/${other.id}/live`)).status).toBe(404)
  watching.close()
  watchingOther.close()
})

/** Opens a live stream, as a browser does. */
async function watch(person: SignedInPerson, workspaceId: string) {
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const stop = new AbortController()
  const response = await fetch(`${server.url}/console/api/w/${workspaceId}/live`, {
    headers: { cookie },
    signal: stop.signal,
  })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  const more = async () => {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the stream ended after: ${text}`)
    text += Buffer.from(value).toString('utf8')
  }
  return {
    text: () => text,
    async until(topic: string) {
      while (!text.includes(`"topic":"${topic}"`)) await more()
    },
    close: () => stop.abort(),
  }
}
