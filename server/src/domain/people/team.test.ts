import { beforeAll, expect, test } from 'vitest'
import { goodPassword, newBrowser, type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'

const server = useTestServer()
let ours: TestWorkspace
let admin: SignedInPerson

beforeAll(async () => {
  ours = await newWorkspace(server, 'Ours')
  admin = await signedIn(server, { workspaceId: ours.id, role: 'admin' })
})

const post = (path: string, body: object, person = admin) =>
  person.call(`/w/${ours.id}${path}`, { method: 'POST', body })
const tokenOf = (url: string) => url.split('/link/')[1] as string

test('an invitation is followed once, by the address it is for, into the role it names', async () => {
  const { status, body } = await post('/team/invites', { email: 'Ben@Example.com', role: 'developer' })
  expect(status).toBe(201)
  const [pending] = (await admin.call(`/w/${ours.id}/team`)).body.invites
  expect(pending).toMatchObject({ email: 'ben@example.com', role: 'developer', created_by: admin.email })
  const ben = newBrowser(server.url)
  const token = tokenOf(body.url)
  expect((await ben.call(`/links/${token}`)).body).toMatchObject({ kind: 'invite', email: 'ben@example.com' })
  const own = { name: 'Ben', email: 'somebody@else.example', password: goodPassword }
  expect((await ben.call(`/links/${token}`, { method: 'POST', body: own })).status).toBe(200)
  const session = (await ben.call('/session')).body
  expect(session.person).toMatchObject({ email: 'ben@example.com', operator: false })
  expect(session.workspaces).toMatchObject([{ id: ours.id, role: 'developer' }])
  expect((await admin.call(`/w/${ours.id}/team`)).body.invites).toEqual([])
  expect((await post('/team/invites', { email: 'ben@example.com', role: 'admin' })).status).toBe(409)
})

test('a newer invitation takes the place of the older one, and a withdrawn one is dead', async () => {
  const first = await post('/team/invites', { email: 'cy@example.com', role: 'member' })
  server.clock.forward({ seconds: 1 })
  const second = await post('/team/invites', { email: 'cy@example.com', role: 'member' })
  const cy = newBrowser(server.url)
  expect((await cy.call(`/links/${tokenOf(first.body.url)}`)).status).toBe(410)
  expect((await cy.call(`/links/${tokenOf(second.body.url)}`)).status).toBe(200)
  const [pending] = (await admin.call(`/w/${ours.id}/team`)).body.invites
  expect((await admin.call(`/w/${ours.id}/team/invites/${pending.id}`, { method: 'DELETE' })).status).toBe(204)
  expect((await cy.call(`/links/${tokenOf(second.body.url)}`)).status).toBe(410)
})

test('somebody with an account joins another workspace with its password, and with no other', async () => {
  const member = await signedIn(server, { workspaceId: ours.id, role: 'member' })
  const other = await newWorkspace(server, 'Other')
  const boss = await signedIn(server, { workspaceId: other.id, role: 'admin' })
  const invited = await boss.call(`/w/${other.id}/team/invites`, {
    method: 'POST',
    body: { email: member.email, role: 'member' },
  })
  const browser = newBrowser(server.url)
  const token = tokenOf(invited.body.url)
  expect((await browser.call(`/links/${token}`)).body.has_account).toBe(true)
  const follow = (password: string) => browser.call(`/links/${token}`, { method: 'POST', body: { password } })
  expect((await follow('not the password at all')).status).toBe(401)
  expect((await follow(goodPassword)).status).toBe(200)
  const { workspaces } = (await browser.call('/session')).body
  expect(workspaces.map(({ name }: { name: string }) => name)).toEqual(['Other', 'Ours'])
})

test('a workspace keeps its last admin, also when two leave at once', async () => {
  const place = await newWorkspace(server, 'Small')
  const one = await signedIn(server, { workspaceId: place.id, role: 'admin' })
  const two = await signedIn(server, { workspaceId: place.id, role: 'admin' })
  const leave = (person: SignedInPerson) => person.call(`/w/${place.id}/team/leave`, { method: 'POST' })
  const responses = await Promise.all([leave(one), leave(two)])
  expect(responses.map(({ status }) => status).sort()).toEqual([204, 409])
  const last = responses[0]?.status === 409 ? one : two
  const self = (await last.call('/session')).body.person.id
  const demote = await last.call(`/w/${place.id}/team/members/${self}`, { method: 'PATCH', body: { role: 'member' } })
  expect(demote).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
})

test('a role that is taken away counts from the next call on', async () => {
  const place = await newWorkspace(server)
  const boss = await signedIn(server, { workspaceId: place.id, role: 'admin' })
  const person = await signedIn(server, { workspaceId: place.id, role: 'admin' })
  const id = (await person.call('/session')).body.person.id
  expect((await person.call(`/w/${place.id}/audit`)).status).toBe(200)
  await boss.call(`/w/${place.id}/team/members/${id}`, { method: 'PATCH', body: { role: 'developer' } })
  expect((await person.call(`/w/${place.id}/audit`)).status).toBe(403)
  await boss.call(`/w/${place.id}/team/members/${id}`, { method: 'DELETE' })
  expect((await person.call(`/w/${place.id}/team`)).status).toBe(404)
  const log = (await boss.call(`/w/${place.id}/audit?action=member`)).body.data
  expect(log.map(({ action }: { action: string }) => action)).toEqual([
    'member.remove',
    'member.role',
    'member.join',
    'member.join',
  ])
  expect(log[1]).toMatchObject({ before: { role: 'admin' }, after: { role: 'developer' }, target_name: person.email })
})

test('a workspace that asks for a second factor lets nobody in without one', async () => {
  const place = await newWorkspace(server)
  const boss = await signedIn(server, { workspaceId: place.id, role: 'admin' })
  const ask = () => boss.call(`/w/${place.id}/settings`, { method: 'PATCH', body: { requires_two_factor: true } })
  expect((await ask()).status).toBe(409)
  await server.db.change('update workspaces set requires_two_factor = true where id = $1', [place.id])
  expect(await boss.call(`/w/${place.id}/team`)).toMatchObject({
    status: 403,
    body: { error: { code: 'two_factor_required' } },
  })
})

test('the operator sees workspaces from outside: suspends, resumes, gives credits; each is on record', async () => {
  const operator = await signedIn(server, { operator: true })
  const made = await operator.call('/operator/workspaces', { method: 'POST', body: { name: 'Made' } })
  const { id } = made.body
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

test('a link of the operator’s lets a person set a new password, ends their sessions, and lasts half an hour', async () => {
  const operator = await signedIn(server, { operator: true })
  const person = await signedIn(server, { workspaceId: ours.id, role: 'member' })
  const id = (await person.call('/session')).body.person.id
  const newLink = async () =>
    tokenOf((await operator.call(`/operator/people/${id}/reset-link`, { method: 'POST' })).body.url)
  const late = await newLink()
  server.clock.forward({ minutes: 31 })
  const browser = newBrowser(server.url)
  const follow = (token: string) =>
    browser.call(`/links/${token}`, { method: 'POST', body: { password: 'nine green herons' } })
  expect((await follow(late)).status).toBe(410)
  await operator.call('/confirm', { method: 'POST', body: { password: goodPassword } })
  expect((await follow(await newLink())).status).toBe(200)
  expect((await person.call('/session')).status).toBe(401)
  const signIn = (password: string) =>
    newBrowser(server.url).call('/sign-in', { method: 'POST', body: { email: person.email, password } })
  expect((await signIn(goodPassword)).status).toBe(401)
  expect((await signIn('nine green herons')).status).toBe(200)
})

test('the audit log can be taken away as a file in which no cell is a formula', async () => {
  const evil = await newWorkspace(server, 'Evil')
  const boss = await signedIn(server, { workspaceId: evil.id, role: 'admin' })
  await boss.call(`/w/${evil.id}/settings`, { method: 'PATCH', body: { name: '=cmd|x' } })
  await server.db.change(
    `insert into audit_entries (id, workspace_id, at, actor, action, target_name)
     values (gen_random_uuid(), $1, now(), '=1+1', 'x.y', '@sum(a1)')`,
    [evil.id],
  )
  const cookie = [...boss.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const response = await fetch(`${server.url}/console/api/w/${evil.id}/audit.csv`, { headers: { cookie } })
  expect(response.headers.get('content-type')).toContain('text/csv')
  const text = await response.text()
  expect(text).toContain(`'=1+1`)
  expect(text).toContain(`'@sum(a1)`)
  expect(text).not.toMatch(/(^|,)"?[=+@-]/m)
})

test('that a second factor is no longer asked for needs a fresh proof; another name does not', async () => {
  const place = await newWorkspace(server)
  const boss = await signedIn(server, { workspaceId: place.id, role: 'admin' })
  const change = (body: object) => boss.call(`/w/${place.id}/settings`, { method: 'PATCH', body })
  server.clock.forward({ minutes: 11 })
  expect((await change({ requires_two_factor: false })).body.error.code).toBe('confirmation_required')
  expect((await change({ name: 'Another' })).status).toBe(200)
  await boss.call('/confirm', { method: 'POST', body: { password: boss.password } })
  expect((await change({ requires_two_factor: false })).status).toBe(200)
})
