import { expect, test } from 'vitest'
import { newBrowser, type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { ensurePartitions } from '../../db/partitions.ts'

const server = useTestServer()

async function setUp() {
  const workspace = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const at = (path: string) => `/w/${workspace.id}${path}`
  return { workspace, admin, at }
}

const input = { name: 'Backend', scopes: ['messages:send', 'messages:read'] }
const post = (body: unknown = {}) => ({ method: 'POST', body })

/** The error code of a request with this key. */
const errorCodeOf = async (key: string) =>
  ((await server.call('/v1/me', { key })).body as { error?: { code: string } }).error?.code

const auditEntriesOf = (workspaceId: string) =>
  server.db.rows<{ action: string; target: string; actor: string; before: unknown; after: unknown }>(
    `select action, target, actor, before, after from audit_entries
     where workspace_id = $1 and action like 'key.%' order by at, id`,
    [workspaceId],
  )

const listKeys = async (person: SignedInPerson, workspace: TestWorkspace, query = '') =>
  (await person.call(`/w/${workspace.id}/keys${query}`)).body.data as {
    id: string
    state: string
    name: string
    requests_by_day: Record<'ok' | 'refused' | 'rate_limited' | 'failed', number[]>
    replaced_by: { id: string } | null
    replaces: { id: string } | null
  }[]

test('an admin creates a key; its secret is returned only once, and it works', async () => {
  const { workspace, admin, at } = await setUp()
  const created = await admin.call(
    at('/keys'),
    post({ ...input, rate_limit_per_min: 60, ip_allow_list: ['127.0.0.1', '0.0.0.0/0'] }),
  )
  expect(created).toMatchObject({
    status: 201,
    body: {
      key: {
        ...input,
        state: 'active',
        rate_limit_per_min: 60,
        ip_allow_list: ['127.0.0.1/32', '0.0.0.0/0'],
        created_by: admin.email,
        last_used_at: null,
      },
      secret: expect.stringMatching(/^prl_live_/),
      warnings: ['The IP allowlist contains 0.0.0.0/0, which is every IPv4 address, but no IPv6 address.'],
    },
  })
  const { key, secret } = created.body
  expect((await server.call('/v1/me', { key: secret })).status).toBe(200)
  expect((await admin.call(at(`/keys/${key.id}`))).body).toMatchObject({ id: key.id, name: 'Backend' })
  expect(JSON.stringify(await listKeys(admin, workspace))).not.toContain(secret)
  const entries = await auditEntriesOf(workspace.id)
  expect(entries).toMatchObject([
    { action: 'key.create', target: key.id, actor: admin.email, after: { name: 'Backend' } },
  ])
  expect(JSON.stringify(entries)).not.toContain(secret)
})

test('an expiry or a filter that is not a time gets a message with an example, and the example is accepted', async () => {
  const { workspace, admin, at } = await setUp()
  const message = 'Enter a date and time such as 2026-11-16T09:00:00Z.'
  for (const expires_at of ['tomorrow', '2026-11-16', '16.11.2026 09:00', '2026-02-30T00:00:00.000Z']) {
    expect((await admin.call(at('/keys'), post({ ...input, expires_at }))).body.error, expires_at).toMatchObject({
      code: 'validation_failed',
      errors: [{ param: 'expires_at', code: 'invalid', message }],
    })
  }
  expect((await admin.call(at('/keys'), post({ ...input, expires_at: '2099-11-16T09:00:00Z' }))).status).toBe(201)
  for (const [query, status] of [
    ['since=yesterday', 400],
    ['since=2026-11-16T09:00:00Z', 200],
  ] as const) {
    const { body, ...response } = await admin.call(at(`/deliveries?${query}`))
    expect([response.status, body.error?.message], query).toEqual([status, status === 400 ? message : undefined])
  }
  const { body } = await workspace.call('/v1/messages?created_after=yesterday')
  expect((body as { error: unknown }).error).toMatchObject({ errors: [{ param: 'created_after', message }] })
})

test('the first request updates last_used_at', async () => {
  const { admin, at } = await setUp()
  const { key, secret } = (await admin.call(at('/keys'), post(input))).body
  await server.call('/v1/me', { key: secret })
  await server.api.flush()
  expect((await admin.call(at(`/keys/${key.id}`))).body).toMatchObject({
    last_used_at: server.clock.now().toISOString(),
    last_used_ip: '127.0.0.1',
  })
})

test('POST /keys reports every invalid field', async () => {
  const { admin, at } = await setUp()
  const invalid = {
    name: ' ',
    scopes: ['everything'],
    rate_limit_per_min: 101,
    ip_allow_list: ['203.0.113.9/24'],
    expires_at: '2020-01-01T00:00:00.000Z',
  }
  const { status, body } = await admin.call(at('/keys'), post(invalid))
  expect(status).toBe(400)
  const params = body.error.errors.map((error: { param: string }) => error.param)
  expect(params).toEqual(['name', 'scopes', 'rate_limit_per_min', 'expires_at', 'ip_allow_list'])
  for (const invalidBody of [
    { ...input, workspace_id: 'x' },
    { name: 'no scopes' },
    { ...input, expires_at: 'soon' },
  ]) {
    expect((await admin.call(at('/keys'), post(invalidBody))).status).toBe(400)
  }
})

test('a change takes effect on the next request, and the audit log contains only the changed fields', async () => {
  const { workspace, admin, at } = await setUp()
  const { key, secret } = (await admin.call(at('/keys'), post(input))).body
  const expiry = new Date(server.clock.now().getTime() + 86_400_000).toISOString()
  const change = { name: 'Backend two', scopes: [], ip_allow_list: ['192.0.2.7'], expires_at: expiry }
  const changed = await admin.call(at(`/keys/${key.id}`), { method: 'PATCH', body: change })
  expect(changed).toMatchObject({
    status: 200,
    body: { key: { name: 'Backend two', scopes: [], state: 'active', expires_at: expiry }, warnings: [] },
  })
  expect(await errorCodeOf(secret)).toBe('ip_not_allowed')
  const open = await admin.call(at(`/keys/${key.id}`), {
    method: 'PATCH',
    body: { ip_allow_list: [], expires_at: null },
  })
  expect(open.body.key).toMatchObject({ state: 'active', expires_at: null, name: 'Backend two' })
  expect((await server.call('/v1/me', { key: secret })).status).toBe(200)
  expect((await auditEntriesOf(workspace.id)).at(-1)).toMatchObject({
    action: 'key.change',
    before: { ip_allow_list: ['192.0.2.7/32'], expires_at: expiry },
    after: { ip_allow_list: [], expires_at: null },
  })
  expect((await admin.call(at(`/keys/${key.id}`), { method: 'PATCH', body: {} })).status).toBe(400)
})

test('rotating a key copies its settings; the old key ends immediately or after the grace period', async () => {
  const { workspace, admin, at } = await setUp()
  const { key, secret } = (await admin.call(at('/keys'), post({ ...input, rate_limit_per_min: 7 }))).body
  server.clock.forward({ seconds: 1 })
  const rotated = await admin.call(at(`/keys/${key.id}/rotate`), post({ grace_hours: 1 }))
  expect(rotated).toMatchObject({ status: 201, body: { key: { ...input, rate_limit_per_min: 7, expires_at: null } } })
  expect(rotated.body.secret).not.toBe(secret)
  expect((await server.call('/v1/me', { key: secret })).status).toBe(200)
  // Both have the same name. The old one says from the start that it ends, and what replaces it.
  const { id, hint } = rotated.body.key
  const [ended] = await listKeys(admin, workspace, '?state=expiring')
  expect(ended).toMatchObject({ id: key.id, state: 'expiring', replaced_by: { id, hint } })
  const both = await listKeys(admin, workspace, '?q=Backend')
  expect(both.find((each) => each.id === id)).toMatchObject({
    state: 'active',
    replaced_by: null,
    replaces: { id: key.id, hint: key.hint },
  })
  expect(ended).toMatchObject({ replaces: null })
  server.clock.forward({ minutes: 61 })
  expect(await errorCodeOf(secret)).toBe('key_expired')
  expect((await server.call('/v1/me', { key: rotated.body.secret })).status).toBe(200)

  const confirm = post({ password: admin.password })
  await admin.call('/confirm', confirm)
  const again = await admin.call(at(`/keys/${rotated.body.key.id}/rotate`), post({ grace_hours: 0 }))
  expect(await errorCodeOf(rotated.body.secret)).toBe('key_revoked')
  expect((await server.call('/v1/me', { key: again.body.secret })).status).toBe(200)
  const keys = await listKeys(admin, workspace, '?q=Backend')
  expect(keys.map((each) => [each.state, each.replaced_by?.id ?? null])).toEqual([
    ['active', null],
    ['revoked', again.body.key.id],
    ['expired', id],
  ])
  const revoked = await admin.call(at(`/keys/${rotated.body.key.id}/rotate`), post({ grace_hours: 0 }))
  expect(revoked).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
  expect((await admin.call(at(`/keys/${again.body.key.id}/rotate`), post({ grace_hours: 5 }))).status).toBe(400)
  expect(
    (await auditEntriesOf(workspace.id)).map(({ action }) => action).filter((action) => action === 'key.rotate'),
  ).toHaveLength(2)
})

test('a key that is rotated twice has two replacements, and the first of them still counts as active', async () => {
  const { workspace, admin, at } = await setUp()
  const { key } = (await admin.call(at('/keys'), post(input))).body
  const rotate = () => {
    server.clock.forward({ seconds: 1 })
    return admin.call(at(`/keys/${key.id}/rotate`), post({ grace_hours: 24 }))
  }
  const [first, second] = [await rotate(), await rotate()]
  const keys = await listKeys(admin, workspace, '?q=Backend')
  const found = Object.fromEntries(keys.map((each) => [each.id, [each.state, each.replaced_by?.id ?? null]]))
  expect(found).toEqual({
    [key.id]: ['expiring', first.body.key.id],
    [first.body.key.id]: ['active', null],
    [second.body.key.id]: ['active', null],
  })
})

test('rotating a key with a lifetime of 30 days creates one with a lifetime of 30 days', async () => {
  const { admin, at } = await setUp()
  const expires_at = new Date(server.clock.now().getTime() + 30 * 86_400_000).toISOString()
  const { key } = (await admin.call(at('/keys'), post({ ...input, expires_at }))).body
  await server.passDays(29)
  await admin.call('/sign-in', post({ email: admin.email, password: admin.password }))
  const rotated = await admin.call(at(`/keys/${key.id}/rotate`), post({ grace_hours: 24 }))
  const expected = new Date(server.clock.now().getTime() + 30 * 86_400_000)
  expect(rotated.body.key.expires_at).toBe(expected.toISOString())
})

test('a revoked key gets key_revoked on the next request', async () => {
  const { workspace, admin, at } = await setUp()
  const { key, secret } = (await admin.call(at('/keys'), post(input))).body
  expect((await server.call('/v1/me', { key: secret })).status).toBe(200)
  expect(await admin.call(at(`/keys/${key.id}/revoke`), post())).toMatchObject({
    status: 200,
    body: { state: 'revoked' },
  })
  expect(await errorCodeOf(secret)).toBe('key_revoked')
  expect((await listKeys(admin, workspace, '?state=revoked')).map(({ id }) => id)).toEqual([key.id])
  expect((await admin.call(at('/keys?state=dead'))).status).toBe(400)
})

const noRequests = Array(7).fill(0)

test('GET /keys returns the requests of each key by day and result', async () => {
  const { workspace, admin } = await setUp()
  const { secret, key } = await workspace.newKey({ name: 'busy', rateLimitPerMin: 3 })
  await server.call('/v1/me', { key: secret })
  server.clock.forward({ hours: 24 })
  for (const path of ['/v1/me', '/v1/me', '/v1/nothing']) await server.call(path, { key: secret })
  expect(await errorCodeOf(secret)).toBe('rate_limited')
  await server.api.flush()
  // A server error is not easily caused. It is counted like this.
  await server.db.change(
    `insert into traffic_hours (hour, workspace_id, key_id, code, count)
     values (date_trunc('hour', $1::timestamptz), $2, $3, 'internal_error', 4)`,
    [server.clock.now(), workspace.id, key.id],
  )
  await ensurePartitions(server.db, server.clock)
  // A database whose clock is ahead has counts of a day that is not shown yet.
  await server.db.change(
    `insert into traffic_hours (hour, workspace_id, key_id, code, count)
     values (date_trunc('hour', $1::timestamptz) + interval '1 day', $2, $3, null, 4)`,
    [server.clock.now(), workspace.id, key.id],
  )
  await admin.call('/sign-in', post({ email: admin.email, password: admin.password }))
  const keys = await listKeys(admin, workspace)
  expect(keys.find(({ name }) => name === 'busy')?.requests_by_day).toEqual({
    ok: [0, 0, 0, 0, 0, 1, 2],
    refused: [0, 0, 0, 0, 0, 0, 1],
    rate_limited: [0, 0, 0, 0, 0, 0, 1],
    failed: [0, 0, 0, 0, 0, 0, 4],
  })
  expect(keys.find(({ name }) => name === 'test key')?.requests_by_day).toEqual({
    ok: noRequests,
    refused: noRequests,
    rate_limited: noRequests,
    failed: noRequests,
  })
})

test('a key that was only refused is unused, and its refused requests are counted', async () => {
  const { workspace, admin } = await setUp()
  const { secret } = await workspace.newKey({ name: 'elsewhere', allowedRanges: ['192.0.2.1/32'] })
  expect((await server.call('/v1/me', { key: secret })).status).toBe(403)
  await server.api.flush()
  const key = (await listKeys(admin, workspace)).find(({ name }) => name === 'elsewhere')
  expect(key).toMatchObject({
    last_used_at: null,
    requests_by_day: { ok: noRequests, refused: [0, 0, 0, 0, 0, 0, 1] },
  })
})

test('GET /my-address returns the IP address of the request', async () => {
  const { admin, at } = await setUp()
  expect((await admin.call(at('/my-address'))).body).toEqual({ address: '127.0.0.1' })
})

test('developers can read keys, members cannot, and creating or rotating a key needs a recent confirmation', async () => {
  const { workspace, admin, at } = await setUp()
  const developer = await signedIn(server, { workspaceId: workspace.id, role: 'developer' })
  const member = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const id = workspace.key.id
  const reads = ['/keys', `/keys/${id}`, '/my-address']
  const changes: [string, string, unknown][] = [
    ['POST', '/keys', input],
    ['PATCH', `/keys/${id}`, { name: 'mine' }],
    ['POST', `/keys/${id}/rotate`, { grace_hours: 0 }],
    ['POST', `/keys/${id}/revoke`, {}],
  ]
  for (const path of reads) {
    expect((await developer.call(at(path))).status).toBe(200)
    expect((await member.call(at(path))).body.error.code).toBe('not_permitted')
    expect((await newBrowser(server.url).call(at(path))).status).toBe(401)
  }
  for (const [method, path, body] of changes) {
    for (const person of [developer, member]) {
      expect((await person.call(at(path), { method, body })).body.error.code).toBe('not_permitted')
    }
  }
  server.clock.forward({ minutes: 11 })
  for (const [method, path, body] of changes.filter(([, path]) => path === '/keys' || path.endsWith('rotate'))) {
    expect((await admin.call(at(path), { method, body })).body.error.code).toBe('confirmation_required')
  }
  expect(await auditEntriesOf(workspace.id)).toEqual([])
})

test('a key of another workspace gets the same response as an unknown key', async () => {
  const { admin, at } = await setUp()
  const otherWorkspace = await newWorkspace(server)
  const masked = ({ status, body }: { status: number; body: unknown }, id: string) => ({
    status,
    body: JSON.stringify(body)
      .replaceAll(id, 'ID')
      .replace(/req_[\w-]+/, 'REQ'),
  })
  const unknown = '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d'
  for (const [method, rest, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { name: 'mine now' }],
    ['POST', '/rotate', { grace_hours: 0 }],
    ['POST', '/revoke', {}],
  ] as const) {
    const [other, none] = await Promise.all(
      [otherWorkspace.key.id, unknown].map(async (id) =>
        masked(await admin.call(at(`/keys/${id}${rest}`), { method, body }), id),
      ),
    )
    expect(other).toEqual(none)
    expect(other?.status).toBe(404)
  }
  expect((await otherWorkspace.call('/v1/me')).status).toBe(200)
  expect((await admin.call(at('/keys/nonsense'))).status).toBe(404)
})

test('a key is expiring when the open problems say so: a week before its end, or half of its lifetime', async () => {
  const { workspace, admin, at } = await setUp()
  const hours = (count: number) => new Date(server.clock.now().getTime() + count * 3_600_000).toISOString()
  for (const [name, lifetime] of [
    ['Short', 48],
    ['Long', 24 * 30],
  ] as const) {
    expect((await admin.call(at('/keys'), post({ ...input, name, expires_at: hours(lifetime) }))).status).toBe(201)
  }
  const expiring = async () => {
    // Sessions end before that.
    const viewer = await signedIn(server, { workspaceId: workspace.id, role: 'developer' })
    const listed = (await listKeys(viewer, workspace)).filter(({ state }) => state === 'expiring').map(({ id }) => id)
    const { data } = (await viewer.call(at('/problems'))).body as { data: { kind: string; href: string }[] }
    const problems = data.filter(({ kind }) => kind === 'key_expiring').map(({ href }) => href.split('=')[1])
    expect(listed.toSorted()).toEqual(problems.toSorted())
    return (await listKeys(viewer, workspace, '?state=expiring')).map(({ name }) => name)
  }
  expect(await expiring()).toEqual([])
  server.clock.forward({ hours: 25 })
  expect(await expiring()).toEqual(['Short'])
  server.clock.forward({ hours: 24 * 21 })
  expect(await expiring()).toEqual([])
  server.clock.forward({ hours: 24 * 2 })
  expect(await expiring()).toEqual(['Long'])
})
