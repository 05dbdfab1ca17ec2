import { beforeAll, expect, test } from 'vitest'
import {
  followLink,
  goodPassword,
  newBrowser,
  readLink,
  type SignedInPerson,
  signedIn,
  tokenOf,
} from '../../../../testing/console.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../../../testing/workspace.ts'

const server = useTestServer()
let ours: TestWorkspace
let admin: SignedInPerson

beforeAll(async () => {
  ours = await newWorkspace(server, 'Ours')
  admin = await signedIn(server, { workspaceId: ours.id, role: 'admin' })
})

const post = (path: string, body: object, person = admin) =>
  person.call(`/w/${ours.id}${path}`, { method: 'POST', body })

test('an invitation works once, for its email address and role', async () => {
  const { status, body } = await post('/team/invites', { email: 'Ben@Example.com', role: 'developer' })
  expect(status).toBe(201)
  const [pending] = (await admin.call(`/w/${ours.id}/team`)).body.invites
  expect(pending).toMatchObject({ email: 'ben@example.com', role: 'developer', created_by: admin.email })
  const ben = newBrowser(server.url)
  const token = tokenOf(body.url)
  expect((await readLink(ben, token)).body).toMatchObject({ kind: 'invite', email: 'ben@example.com' })
  const account = { name: 'Ben', email: 'other@else.example', password: goodPassword }
  expect((await followLink(ben, token, account)).status).toBe(200)
  const session = (await ben.call('/session')).body
  expect(session.person).toMatchObject({ email: 'ben@example.com', operator: false })
  expect(session.workspaces).toMatchObject([{ id: ours.id, role: 'developer' }])
  expect((await admin.call(`/w/${ours.id}/team`)).body.invites).toEqual([])
  expect((await post('/team/invites', { email: 'ben@example.com', role: 'admin' })).status).toBe(409)
})

test('a newer invitation replaces the older one, and a withdrawn one stops working', async () => {
  const first = await post('/team/invites', { email: 'cy@example.com', role: 'member' })
  server.clock.forward({ seconds: 1 })
  const second = await post('/team/invites', { email: 'cy@example.com', role: 'member' })
  const cy = newBrowser(server.url)
  expect((await readLink(cy, tokenOf(first.body.url))).status).toBe(410)
  expect((await readLink(cy, tokenOf(second.body.url))).status).toBe(200)
  const [pending] = (await admin.call(`/w/${ours.id}/team`)).body.invites
  expect((await admin.call(`/w/${ours.id}/team/invites/${pending.id}`, { method: 'DELETE' })).status).toBe(204)
  expect((await readLink(cy, tokenOf(second.body.url))).status).toBe(410)
})

test('a person with an account joins another workspace with their password', async () => {
  const member = await signedIn(server, { workspaceId: ours.id, role: 'member' })
  const other = await newWorkspace(server, 'Other')
  const otherAdmin = await signedIn(server, { workspaceId: other.id, role: 'admin' })
  const invited = await otherAdmin.call(`/w/${other.id}/team/invites`, {
    method: 'POST',
    body: { email: member.email, role: 'member' },
  })
  const browser = newBrowser(server.url)
  const token = tokenOf(invited.body.url)
  const follow = (password: string) => followLink(browser, token, { password })
  expect((await follow('not the password at all')).status).toBe(401)
  expect((await follow(goodPassword)).status).toBe(200)
  const { workspaces } = (await browser.call('/session')).body
  expect(workspaces.map(({ name }: { name: string }) => name)).toEqual(['Other', 'Ours'])
})

test('the last admin cannot leave, even if two leave concurrently', async () => {
  const workspace = await newWorkspace(server, 'Small')
  const one = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const two = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const leave = (person: SignedInPerson) => person.call(`/w/${workspace.id}/team/leave`, { method: 'POST' })
  const responses = await Promise.all([leave(one), leave(two)])
  expect(responses.map(({ status }) => status).sort()).toEqual([204, 409])
  const last = responses[0]?.status === 409 ? one : two
  const self = (await last.call('/session')).body.person.id
  const demote = await last.call(`/w/${workspace.id}/team/members/${self}`, {
    method: 'PATCH',
    body: { role: 'member' },
  })
  expect(demote).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
})

test('a changed role takes effect on the next request', async () => {
  const workspace = await newWorkspace(server)
  const otherAdmin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const id = (await person.call('/session')).body.person.id
  expect((await person.call(`/w/${workspace.id}/audit`)).status).toBe(200)
  await otherAdmin.call(`/w/${workspace.id}/team/members/${id}`, { method: 'PATCH', body: { role: 'developer' } })
  expect((await person.call(`/w/${workspace.id}/audit`)).status).toBe(403)
  await otherAdmin.call(`/w/${workspace.id}/team/members/${id}`, { method: 'DELETE' })
  expect((await person.call(`/w/${workspace.id}/team`)).status).toBe(404)
  const log = (await otherAdmin.call(`/w/${workspace.id}/audit?action=member`)).body.data
  expect(log.map(({ action }: { action: string }) => action)).toEqual(['member.remove', 'member.role'])
  expect(log[1]).toMatchObject({ before: { role: 'admin' }, after: { role: 'developer' }, target_name: person.email })
})

test('a workspace that requires a second factor rejects members without one', async () => {
  const workspace = await newWorkspace(server)
  const otherAdmin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const requireTwoFactor = () =>
    otherAdmin.call(`/w/${workspace.id}/settings`, { method: 'PATCH', body: { requires_two_factor: true } })
  expect((await requireTwoFactor()).status).toBe(409)
  await server.db.change('update workspaces set requires_two_factor = true where id = $1', [workspace.id])
  expect(await otherAdmin.call(`/w/${workspace.id}/team`)).toMatchObject({
    status: 403,
    body: { error: { code: 'two_factor_required' } },
  })
})

test('an operator creates, suspends, resumes and credits workspaces, with audit entries', async () => {
  const operator = await signedIn(server, { operator: true })
  const created = await operator.call('/operator/workspaces', { method: 'POST', body: { name: 'Made' } })
  const { id } = created.body
  const act = (path: string, body: object = {}) =>
    operator.call(`/operator/workspaces/${id}/${path}`, { method: 'POST', body })
  expect((await act('credits', { amount: 250, note: 'welcome' })).body).toEqual({ balance: 250 })
  expect((await act('credits', { amount: -300, note: 'too much' })).status).toBe(400)
  expect((await act('suspend', { reason: 'unpaid' })).status).toBe(204)
  const list = (await operator.call('/operator/workspaces')).body.data
  expect(list.find((each: { id: string }) => each.id === id)).toMatchObject({
    name: 'Made',
    balance: 250,
    suspended_reason: 'unpaid',
    members: 0,
  })
  expect((await act('resume')).status).toBe(204)
  const rows = await server.db.rows<{ action: string }>(
    'select action from audit_entries where workspace_id = $1 order by at, id',
    [id],
  )
  expect(rows.map(({ action }) => action)).toEqual([
    'workspace.create',
    'workspace.credit',
    'workspace.suspend',
    'workspace.resume',
  ])
})

test('a reset link of an operator sets a new password, ends sessions and expires after 30 minutes', async () => {
  const operator = await signedIn(server, { operator: true })
  const person = await signedIn(server, { workspaceId: ours.id, role: 'member' })
  const id = (await person.call('/session')).body.person.id
  const newLink = async () =>
    tokenOf((await operator.call(`/operator/people/${id}/reset-link`, { method: 'POST' })).body.url)
  const expired = await newLink()
  server.clock.forward({ minutes: 31 })
  const browser = newBrowser(server.url)
  const follow = (token: string) => followLink(browser, token, { password: 'nine green herons' })
  expect((await follow(expired)).status).toBe(410)
  await operator.call('/confirm', { method: 'POST', body: { password: goodPassword } })
  expect((await follow(await newLink())).status).toBe(200)
  expect((await person.call('/session')).status).toBe(401)
  const signIn = (password: string) =>
    newBrowser(server.url).call('/sign-in', { method: 'POST', body: { email: person.email, password } })
  expect((await signIn(goodPassword)).status).toBe(401)
  expect((await signIn('nine green herons')).status).toBe(200)
})

test('the CSV export of the audit log contains no formulas', async () => {
  const workspace = await newWorkspace(server, 'Evil')
  const otherAdmin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  await otherAdmin.call(`/w/${workspace.id}/settings`, { method: 'PATCH', body: { name: '=cmd|x' } })
  await server.db.change(
    `insert into audit_entries (id, workspace_id, at, actor, action, target_name)
     values (gen_random_uuid(), $1, now(), '=1+1', 'x.y', '@sum(a1)')`,
    [workspace.id],
  )
  const cookie = [...otherAdmin.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(`${server.url}/console/api/w/${workspace.id}/audit.csv`, { headers: { cookie } })
  expect(response.headers.get('content-type')).toContain('text/csv')
  const text = await response.text()
  expect(text).toContain(`'=1+1`)
  expect(text).toContain(`'@sum(a1)`)
  expect(text).not.toMatch(/(^|,)"?[=+@-]/m)
})

test('turning off the two-factor requirement needs a recent confirmation, renaming does not', async () => {
  const workspace = await newWorkspace(server)
  const otherAdmin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const change = (body: object) => otherAdmin.call(`/w/${workspace.id}/settings`, { method: 'PATCH', body })
  server.clock.forward({ minutes: 11 })
  expect((await change({ requires_two_factor: false })).body.error.code).toBe('confirmation_required')
  expect((await change({ name: 'Another' })).status).toBe(200)
  await otherAdmin.call('/confirm', { method: 'POST', body: { password: otherAdmin.password } })
  expect((await change({ requires_two_factor: false })).status).toBe(200)
})
