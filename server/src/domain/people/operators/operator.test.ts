import { beforeAll, expect, test } from 'vitest'
import {
  followLink,
  goodPassword,
  newBrowser,
  type SignedInPerson,
  signedIn,
  tokenOf,
} from '../../../../testing/console.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'

const server = useTestServer({ trustProxy: ['127.0.0.1'] })
let operator: SignedInPerson

beforeAll(async () => {
  operator = await signedIn(server, { operator: true })
})

const inviteInto = (id: string, email: string, by: SignedInPerson = operator) =>
  by.call(`/operator/workspaces/${id}/invites`, { method: 'POST', body: { email } })
const entries = (action: string) =>
  server.db.rows<{ workspace_id: string | null; target_name: string; before: unknown; after: unknown }>(
    'select workspace_id, target_name, before, after from audit_entries where action = $1 order by at, id',
    [action],
  )

test('an operator invites the first admin of a workspace without being a member', async () => {
  const workspace = await newWorkspace(server, 'Bakery')
  const { status, body } = await inviteInto(workspace.id, ' Ana@Example.com ')
  expect(status).toBe(201)
  const ana = newBrowser(server.url)
  const account = { name: 'Ana', password: goodPassword }
  expect((await followLink(ana, tokenOf(body.url), account)).status).toBe(200)
  expect((await ana.call('/session')).body).toMatchObject({
    person: { email: 'ana@example.com', operator: false },
    workspaces: [{ id: workspace.id, role: 'admin' }],
  })
  expect(await entries('invite.create')).toEqual([
    { workspace_id: workspace.id, target_name: 'ana@example.com', before: null, after: { role: 'admin' } },
  ])
  expect((await operator.call(`/w/${workspace.id}/team`)).status).toBe(404)
})

test('inviting a member, an invalid address or into an unknown workspace fails', async () => {
  const workspace = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  expect(await inviteInto(workspace.id, admin.email)).toMatchObject({
    status: 409,
    body: { error: { code: 'conflict', param: 'email' } },
  })
  expect((await inviteInto(workspace.id, 'not-an-address')).status).toBe(400)
  expect((await inviteInto('00000000-0000-4000-8000-000000000000', 'x@example.com')).status).toBe(404)
})

test('operator routes are forbidden for admins', async () => {
  const workspace = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  expect((await inviteInto(workspace.id, 'x@example.com', admin)).status).toBe(403)
  for (const path of [
    '/operator/traffic',
    '/operator/prices',
    '/operator/people',
    '/operator/health',
    '/operator/health/series',
  ]) {
    expect((await admin.call(path)).status, path).toBe(403)
  }
  const set = { method: 'PUT', body: { credits: 0 } }
  expect((await admin.call('/operator/prices/text', set)).status).toBe(403)
})

test('an invitation by an operator needs a recent confirmation', async () => {
  const workspace = await newWorkspace(server)
  const stale = await signedIn(server, { operator: true })
  server.clock.forward({ minutes: 11 })
  expect(await inviteInto(workspace.id, 'late@example.com', stale)).toMatchObject({
    status: 403,
    body: { error: { code: 'confirmation_required' } },
  })
  await operator.call('/confirm', { method: 'POST', body: { password: goodPassword } })
})

test('setting a price takes effect immediately and is audited with the old price', async () => {
  const priceOf = async (item: string) =>
    (await operator.call('/operator/prices')).body.data.find((each: { item: string }) => each.item === item)?.credits
  expect(await priceOf('template.MARKETING')).toBe(1)
  const set = (item: string, credits: number) =>
    operator.call(`/operator/prices/${item}`, { method: 'PUT', body: { credits } })
  expect((await set('template.MARKETING', 7)).body).toEqual({ item: 'template.MARKETING', credits: 7 })
  expect(await priceOf('template.MARKETING')).toBe(7)
  expect((await set('template.MARKETING', -1)).status).toBe(400)
  expect((await set('carrier_pigeon', 1)).status).toBe(400)
  expect(await entries('price.set')).toEqual([
    { workspace_id: null, target_name: 'template.MARKETING', before: { credits: 1 }, after: { credits: 7 } },
  ])
})

test('GET /operator/traffic returns queue sizes and invalid keys by IP address', async () => {
  const workspace = await newWorkspace(server)
  await workspace.call('/v1/nowhere')
  for (let call = 0; call < 3; call += 1) {
    const headers = { authorization: 'Bearer prl_live_unknown', 'x-forwarded-for': '203.0.113.9' }
    await fetch(`${server.url}/v1/me`, { headers })
  }
  await expect
    .poll(async () => (await operator.call('/operator/traffic')).body.refusals)
    .toMatchObject([{ code: 'invalid_key', count: 3, address_count: 1, addresses: ['203.0.113.9'] }])
  const { deliveries, outbox } = (await operator.call('/operator/traffic')).body
  expect(deliveries).toEqual({ waiting: 0, held: 0, overdue: 0, oldest_overdue_ms: 0 })
  expect(outbox).toEqual({ waiting: 0, sending: 0, unknown: 0, oldest_overdue_ms: 0 })
})
