import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newPasskey } from '../../../testing/passkey.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'

/** Changes that need a recent confirmation, and how a person confirms. */
const server = useTestServer()

const post = (body: unknown = {}) => ({ method: 'POST', body })
const patch = (body: unknown) => ({ method: 'PATCH', body })
const inDays = (days: number) => new Date(server.clock.now().getTime() + days * 86_400_000).toISOString()
/** The confirmation of signing in has expired. */
const confirmationExpires = () => server.clock.forward({ minutes: 11 })

async function newAdmin() {
  const workspace = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const at = (path: string) => `/w/${workspace.id}${path}`
  const confirm = () => admin.call('/confirm', post({ password: admin.password }))
  return { workspace, admin, at, confirm }
}

test('widening a key needs a recent confirmation and changes nothing without one; narrowing does not', async () => {
  const { admin, at, confirm } = await newAdmin()
  const limits = {
    scopes: ['senders:read', 'messages:read'],
    rate_limit_per_min: 30,
    ip_allow_list: ['10.0.0.0/8'],
    expires_at: inDays(30),
  }
  const { key } = (await admin.call(at('/keys'), post({ name: 'Shop', ...limits }))).body
  confirmationExpires()
  const change = (body: object) => admin.call(at(`/keys/${key.id}`), patch(body))
  const wider: object[] = [
    { scopes: ['messages:read', 'senders:read', 'messages:send'] },
    { rate_limit_per_min: 31 },
    { ip_allow_list: ['10.0.0.0/8', '192.0.2.1'] },
    { ip_allow_list: ['10.0.0.0/7'] },
    { ip_allow_list: [] },
    { expires_at: inDays(31) },
    { expires_at: null },
    { name: 'Other', rate_limit_per_min: 31 },
  ]
  for (const body of wider) {
    const { status, body: reply } = await change(body)
    expect([status, reply.error?.code], JSON.stringify(body)).toEqual([403, 'confirmation_required'])
  }
  expect((await admin.call(at(`/keys/${key.id}`))).body).toMatchObject({
    name: 'Shop',
    ...limits,
    ip_allow_list: ['10.0.0.0/8'],
  })

  const narrower: object[] = [
    { name: 'Till' },
    { scopes: ['messages:read'] },
    { rate_limit_per_min: 10 },
    { ip_allow_list: ['10.1.0.0/16', '10.9.9.9'] },
    { expires_at: inDays(2) },
  ]
  for (const body of narrower) expect((await change(body)).status, JSON.stringify(body)).toBe(200)

  expect((await confirm()).status).toBe(200)
  for (const body of wider) expect((await change(body)).status, JSON.stringify(body)).toBe(200)
})

test('another URL of a webhook needs a recent confirmation; its name and events do not', async () => {
  const { admin, at, confirm } = await newAdmin()
  const events = ['message.sent', 'message.received']
  const input = { name: 'CRM', url: 'http://127.0.0.1:9/hooks', events }
  const { webhook } = (await admin.call(at('/webhooks'), post(input))).body
  confirmationExpires()
  const change = (body: object) => admin.call(at(`/webhooks/${webhook.id}`), patch(body))
  const refused = await change({ name: 'Mine', url: 'http://127.0.0.1:9/elsewhere' })
  expect([refused.status, refused.body.error.code]).toEqual([403, 'confirmation_required'])
  expect((await admin.call(at(`/webhooks/${webhook.id}`))).body).toMatchObject(input)
  expect((await change({ name: 'CRM two', url: input.url, events: ['message.received'] })).status).toBe(200)
  await confirm()
  expect((await change({ url: 'http://127.0.0.1:9/elsewhere' })).status).toBe(200)
})

test('a set-up needs a recent confirmation, and so does its check, which calls any URL', async () => {
  const operator = await signedIn(server, { operator: true })
  confirmationExpires()
  for (const path of ['/operator/setup/check', '/operator/setup', '/operator/connections', '/operator/apps']) {
    const { status, body } = await operator.call(path, post())
    expect([status, body.error?.code], path).toEqual([403, 'confirmation_required'])
  }
})

test.each([
  ['expired', 'This key has expired, so its expiry cannot be changed. Create a new key.'],
  ['revoked', 'This key was revoked, so its expiry cannot be changed. Create a new key.'],
])('the expiry of a key that has ended (%s) cannot be changed; its name can', async (state, message) => {
  const { admin, at, confirm } = await newAdmin()
  const expires_at = inDays(0.1)
  const { key, secret } = (await admin.call(at('/keys'), post({ name: 'Old', scopes: [], expires_at }))).body
  if (state === 'revoked') await admin.call(at(`/keys/${key.id}/revoke`), post())
  else server.clock.forward({ hours: 3 })
  await confirm()
  for (const later of [inDays(30), null]) {
    const { status, body } = await admin.call(at(`/keys/${key.id}`), patch({ expires_at: later }))
    expect([status, body.error.errors]).toEqual([400, [{ param: 'expires_at', code: 'invalid', message }]])
  }
  expect((await admin.call(at(`/keys/${key.id}`), patch({ name: 'Older', expires_at }))).status).toBe(200)
  expect((await server.call('/v1/me', { key: secret })).status).toBe(401)
})

test.each(['with', 'without'])('a person %s a password confirms with a passkey', async (password) => {
  const { admin, at } = await newAdmin()
  const passkey = newPasskey()
  expect((await passkey.register(admin, 'Laptop')).status).toBe(201)
  if (password === 'without') {
    await server.db.change('update people set password_hash = null where email = $1', [admin.email])
  }
  confirmationExpires()
  const session = (await admin.call('/session')).body
  expect(session.person).toMatchObject({ has_password: password === 'with', passkeys: 1 })
  const create = () => admin.call(at('/keys'), post({ name: 'Shop', scopes: [] }))
  expect((await create()).body.error.code).toBe('confirmation_required')
  const confirmed = await passkey.confirm(admin)
  expect(confirmed.status).toBe(200)
  expect(new Date(confirmed.body.confirmed_until).getTime()).toBe(server.clock.now().getTime() + 10 * 60_000)
  expect((await create()).status).toBe(201)
})

test('only a passkey of the person confirms, once per challenge, and only with a challenge for confirming', async () => {
  const { admin, at } = await newAdmin()
  const other = (await newAdmin()).admin
  const [mine, theirs, removed] = [newPasskey(), newPasskey(), newPasskey()]
  await mine.register(admin, 'Mine')
  await theirs.register(other, 'Theirs')
  await removed.register(admin, 'Lost')
  const { data } = (await admin.call('/account/passkeys')).body
  await admin.call(`/account/passkeys/${data.find((each: { name: string }) => each.name === 'Lost').id}`, {
    method: 'DELETE',
  })
  const isRefused = ({ status, body }: { status: number; body: { error?: { code: string } } }) =>
    expect([status, body.error?.code]).toEqual([401, 'wrong_credentials'])
  const forAdding = await newPasskey().begin(admin)
  isRefused(await admin.call('/confirm', post({ passkey: mine.signed(forAdding.challenge) })))
  confirmationExpires()
  isRefused(await theirs.confirm(admin))
  isRefused(await removed.confirm(admin))

  const forSignIn = (await admin.call('/sign-in/passkey/options', post())).body
  isRefused(await admin.call('/confirm', post({ passkey: mine.signed(forSignIn.challenge) })))
  const forConfirming = (await admin.call('/confirm/passkey/options', post())).body
  isRefused(await admin.call('/sign-in/passkey', post({ response: mine.signed(forConfirming.challenge) })))

  const { challenge } = (await admin.call('/confirm/passkey/options', post())).body
  const step = admin.cookies.get('parley-step') ?? ''
  expect((await admin.call(at('/keys'), post({ name: 'x', scopes: [] }))).body.error.code).toBe('confirmation_required')
  expect((await admin.call('/confirm', post({ passkey: mine.signed(challenge) }))).status).toBe(200)
  admin.cookies.set('parley-step', step)
  isRefused(await admin.call('/confirm', post({ passkey: mine.signed(challenge) })))
  const again = (await admin.call('/confirm/passkey/options', post())).body
  isRefused(await newPasskey().finish(admin, 'New', again))
})

test('the options to confirm with a passkey name only the passkeys of the person, and need one', async () => {
  const { admin } = await newAdmin()
  expect((await admin.call('/confirm/passkey/options', post())).body.error.code).toBe('conflict')
  await newPasskey().register(admin, 'Laptop')
  const { allowCredentials, userVerification } = (await admin.call('/confirm/passkey/options', post())).body
  expect(allowCredentials).toHaveLength(1)
  expect(userVerification).toBe('required')
})
