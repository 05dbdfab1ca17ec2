import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { useSimulator } from '../../../testing/simulated-network.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { type AppInput, changeGraphUrl, createApp, defaultGraphUrl, ingressPath, listApps } from './apps.ts'
import { createConnection, listConnections } from './connections.ts'
import { replaceAccessToken } from './replace-secrets.ts'

const testServer = useTestServer()
const network = useSimulator(testServer)

const newApp = (input: Partial<AppInput> = {}) =>
  createApp(testServer.db, testServer.clock, testServer.secretKeys, {
    name: 'App',
    appSecret: 's3cret',
    verifyToken: 'verify-me',
    graphUrl: network.simulator.url,
    ...input,
  })

/** A fake network with the given responses; records the requests. */
async function fakeNetwork(respond: (request: IncomingMessage, response: ServerResponse) => void) {
  const requests: { method: string; url: string; authorization: string | undefined }[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    requests.push({ method, url, authorization: headers.authorization })
    respond(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const json = (response: ServerResponse, status: number, value: unknown) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))

test('connecting subscribes the app to the account’s webhooks', async () => {
  const workspace = await newWorkspace(testServer)
  const account = network.newAccount()
  const subscribers = () => network.control.wabas.list().find(({ id }) => id === account.wabaId)?.subscriptions
  expect(subscribers()).toEqual({})
  await account.connect(workspace)
  expect(Object.keys(subscribers() ?? {})).toHaveLength(1)
})

test('an account that the app is subscribed to keeps its own callback', async () => {
  const workspace = await newWorkspace(testServer)
  const account = network.newAccount()
  const there = await newApp({ verifyToken: 'there' })
  const override = { override_callback_uri: testServer.url + ingressPath(there.id), verify_token: 'there' }
  for (const body of [{}, override]) {
    await fetch(`${network.simulator.url}/v25.0/${account.wabaId}/subscribed_apps`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }
  const overrides = () =>
    Object.values(network.control.wabas.list().find(({ id }) => id === account.wabaId)?.subscriptions ?? {}).map(
      (each) => each.override?.url,
    )
  expect(overrides()).toEqual([override.override_callback_uri])
  const { connection, remark } = await createConnection(network.network, {
    workspaceId: workspace.id,
    appId: (await newApp()).id,
    wabaId: account.wabaId,
    accessToken: account.token,
  })
  expect(overrides()).toEqual([override.override_callback_uri])
  expect(remark).toBe(
    `Account ${account.wabaId} sends its messages to a callback of its own, which was kept: ${override.override_callback_uri}`,
  )
  expect(await replaceAccessToken(network.network, connection.id, account.token)).toMatchObject({ remark })
  expect(overrides()).toEqual([override.override_callback_uri])
})

/** An account with a callback of its own. `token` and `subscribed` respond to the calls about the token and its subscription. */
const overridden = (parts: { token?: [number, object]; subscribed?: [number, object] }) =>
  fakeNetwork(({ url = '', method }, response) => {
    const refused: [number, object] = [400, { error: { code: 100, message: 'Not now' } }]
    if (method === 'POST') json(response, 200, { success: true })
    else if (url.includes('/debug_token')) json(response, ...(parts.token ?? refused))
    else if (url.includes('/subscribed_apps')) json(response, ...(parts.subscribed ?? refused))
    else json(response, 200, { data: [] })
  })

const subscribers = (...callbacks: (string | undefined)[]): [number, object] => [
  200,
  {
    data: callbacks.map((override_callback_uri, index) => ({
      whatsapp_business_api_data: { id: String(70_000 + index) },
      override_callback_uri,
    })),
  },
]

const there = 'https://there.example/hook'

test.each<[string, Parameters<typeof overridden>[0], Partial<AppInput>, object, number]>([
  ['cannot be listed', { token: [200, { data: { app_id: '70000' } }] }, {}, { code: 'validation_failed' }, 0],
  [
    'are of an unknown app',
    { subscribed: subscribers(undefined, there) },
    {},
    { remark: expect.stringContaining(there) },
    0,
  ],
  ['have no callback', { subscribed: subscribers(undefined) }, {}, { remark: null }, 1],
  [
    'are of the stored app',
    { subscribed: subscribers(there) },
    { metaAppId: '70000' },
    { remark: expect.stringContaining(there) },
    0,
  ],
])('subscriptions that %s: a callback of the account is never removed', async (_case, parts, app, result, changes) => {
  const { url, requests } = await overridden(parts)
  const { id: appId } = await newApp({ graphUrl: url, ...app })
  const input = { workspaceId: (await newWorkspace(testServer)).id, appId, wabaId: '10229', accessToken: 'token' }
  const connected = await createConnection(network.network, input).catch((error: unknown) => error)
  expect(connected).toMatchObject(result)
  expect(requests.filter(({ method }) => method === 'POST')).toHaveLength(changes)
})

test('a wrong token is refused with the network’s message, and nothing is stored', async () => {
  const workspace = await newWorkspace(testServer)
  const account = network.newAccount()
  const app = await newApp()
  const input = { workspaceId: workspace.id, appId: app.id, wabaId: account.wabaId, accessToken: 'not-a-token' }
  await expect(createConnection(network.network, input)).rejects.toMatchObject({
    code: 'validation_failed',
    parts: { param: 'access_token', message: expect.stringMatching(/Invalid OAuth access token.*error 190/) },
  })
  const other = network.newAccount()
  await expect(createConnection(network.network, { ...input, accessToken: other.token })).rejects.toMatchObject({
    code: 'validation_failed',
  })
  expect(await listConnections(testServer.db, workspace.id)).toEqual([])
  expect((await workspace.call('/v1/senders')).body).toMatchObject({ total: 0 })
  expect(account.calls('subscribed_apps')).toBe(0)
})

test('an error message of the network is returned without the token it contains', async () => {
  const workspace = await newWorkspace(testServer)
  const token = 'EAAG-very-secret'
  const { url } = await fakeNetwork((_request, response) =>
    json(response, 400, { error: { code: 190, message: `Malformed access token ${token}` } }),
  )
  const app = await newApp({ graphUrl: url })
  const input = { workspaceId: workspace.id, appId: app.id, wabaId: '10229', accessToken: token }
  const refusal = await createConnection(network.network, input).catch((error: Error) => error)
  expect(refusal).toMatchObject({
    message: 'WhatsApp rejected the request: Malformed access token … (WhatsApp error 190)',
  })
  expect(JSON.stringify(refusal)).not.toContain(token)
})

test('the token of another app is refused, and nothing is stored or changed', async () => {
  const workspace = await newWorkspace(testServer)
  const account = network.newAccount()
  const metaAppId = network.control.apps.create({}).id
  const input = { workspaceId: workspace.id, wabaId: account.wabaId, accessToken: account.token }
  const refused = createConnection(network.network, { ...input, appId: (await newApp({ metaAppId })).id })
  const message = `The access token belongs to another app. Generate one for app ${metaAppId}.`
  await expect(refused).rejects.toMatchObject({ parts: { param: 'access_token', message } })
  expect(account.calls('subscribed_apps')).toBe(0)
  expect(await listConnections(testServer.db, workspace.id)).toEqual([])
  const ownApp = network.control.tokens.list().find(({ token }) => token === account.token)?.appId ?? ''
  const app = await newApp({ metaAppId: ownApp })
  const { connection } = await createConnection(network.network, { ...input, appId: app.id })
  const { token } = network.control.tokens.create({ appId: metaAppId, wabaIds: [account.wabaId] })
  await expect(replaceAccessToken(network.network, connection.id, token)).rejects.toThrow(
    `The access token belongs to another app. Generate one for app ${ownApp}.`,
  )
  expect((await network.network.vault.accessFor(connection.id))?.accessToken).toBe(account.token)
})

test('an unreachable network is a service_unavailable error with the cause', async () => {
  const workspace = await newWorkspace(testServer)
  const app = await newApp({ graphUrl: 'http://127.0.0.1:9' })
  const input = { workspaceId: workspace.id, appId: app.id, wabaId: '10229', accessToken: 'token' }
  await expect(createConnection(network.network, input)).rejects.toMatchObject({
    code: 'service_unavailable',
    message: 'WhatsApp cannot be reached at http://127.0.0.1:9 (ECONNREFUSED).',
  })
})

test('an account can be connected through an app only once, also by concurrent requests', async () => {
  const [first, second] = [await newWorkspace(testServer), await newWorkspace(testServer)]
  const { wabaId, token } = network.newAccount()
  const { id: appId } = await newApp()
  const attempts = [first, second, first, second].map(({ id }) =>
    createConnection(network.network, { workspaceId: id, appId, wabaId, accessToken: token }),
  )
  const results = await Promise.allSettled(attempts)
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const result of results) {
    if (result.status === 'rejected') {
      expect(result.reason).toMatchObject({ parts: { param: 'waba_id', errors: [{ code: 'already_connected' }] } })
    }
  }
  const again = createConnection(network.network, { workspaceId: first.id, appId, wabaId, accessToken: token })
  await expect(again).rejects.toThrow(`Account ${wabaId} is already connected through app ${appId}.`)
})

test.each([
  ['an unknown workspace', { workspaceId: '01890000-0000-7000-8000-000000000000' }, 'not_found'],
  ['an unknown app', { appId: '01890000-0000-7000-8000-000000000000' }, 'not_found'],
  ['a malformed app ID', { appId: 'app' }, 'not_found'],
  ['a WABA ID that is a path', { wabaId: '../me' }, 'validation_failed'],
  ['a token with a line break', { accessToken: 'a\r\nb' }, 'validation_failed'],
  ['no token', { accessToken: '' }, 'validation_failed'],
])('%s is refused before any call to the network', async (_case, part, code) => {
  const workspace = await newWorkspace(testServer)
  const account = network.newAccount()
  const app = await newApp()
  const input = {
    workspaceId: workspace.id,
    appId: app.id,
    wabaId: account.wabaId,
    accessToken: account.token,
    ...part,
  }
  await expect(createConnection(network.network, input)).rejects.toMatchObject({ code })
  expect(account.calls('phone_numbers')).toBe(0)
})

test('a connection is kept even if its first sync fails', async () => {
  const workspace = await newWorkspace(testServer)
  const { url } = await fakeNetwork((request, response) => {
    if (request.url?.includes('message_templates')) json(response, 500, {})
    else json(response, 200, request.method === 'POST' ? { success: true } : { data: [] })
  })
  const { id: appId } = await newApp({ graphUrl: url })
  const input = { workspaceId: workspace.id, appId, wabaId: '10229', accessToken: 'token' }
  const { connection, sync } = await createConnection(network.network, input)
  expect(sync).toMatchObject({ kind: 'failed', why: expect.stringContaining('http_500') })
  expect(connection).toMatchObject({ syncedAt: null, syncError: expect.stringContaining('http_500') })
})

test('a response without a list is an error, not an empty list', async () => {
  const workspace = await newWorkspace(testServer)
  const { url } = await fakeNetwork((_request, response) => json(response, 200, {}))
  const { id: appId } = await newApp({ graphUrl: url })
  const input = { workspaceId: workspace.id, appId, wabaId: '10229', accessToken: 'token' }
  await expect(createConnection(network.network, input)).rejects.toThrow('response_without_list')
})

test('the token is sent only to the app’s host, even when the next page is elsewhere', async () => {
  const workspace = await newWorkspace(testServer)
  const foreign = await fakeNetwork((_request, response) => json(response, 200, { data: [] }))
  const own = await fakeNetwork((request, response) => {
    if (request.method === 'POST') json(response, 200, { success: true })
    else if (!request.url?.includes('message_templates')) json(response, 200, { data: [] })
    else json(response, 200, { data: [], paging: { next: `${foreign.url}/v25.0/10229/message_templates?after=x` } })
  })
  const { id: appId } = await newApp({ graphUrl: own.url })
  const input = { workspaceId: workspace.id, appId, wabaId: '10229', accessToken: 'for-one-host' }
  const { sync } = await createConnection(network.network, input)
  expect(sync).toMatchObject({ kind: 'failed', why: expect.stringContaining('foreign_next_page') })
  expect(own.requests.length).toBeGreaterThan(3)
  for (const { authorization } of own.requests) expect(authorization).toBe('Bearer for-one-host')
  // Meta takes the token that is inspected in the query only.
  const others = own.requests.filter(({ url }) => !url.includes('/debug_token?'))
  expect(others.some(({ url }) => url.includes('for-one-host'))).toBe(false)
  expect(foreign.requests).toEqual([])
})

test('no table and no log contains a secret in plain text', async () => {
  const workspace = await newWorkspace(testServer)
  const account = network.newAccount()
  await account.connect(workspace)
  network.control.tokens.change(account.token, { revoked: true })
  testServer.clock.forward({ hours: 6 })
  await network.drain()
  expect(testServer.logged.join()).toContain('sync.failed')
  const tables = await testServer.db.rows<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'public' and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  expect(tables.length).toBeGreaterThan(10)
  const secrets = [account.token, account.appSecret, 'verify-me']
  for (const { name } of tables) {
    const [all] = await testServer.db.rows<{ text: string }>(
      `select coalesce(string_agg(t::text, '|'), '') as text from ${name} t`,
    )
    for (const secret of secrets) expect(all?.text, name).not.toContain(secret)
  }
  for (const secret of secrets) expect(testServer.logged.join()).not.toContain(secret)
  expect(JSON.stringify(await listApps(testServer.db))).not.toContain('sealed')
})

test.each([
  'http://graph.facebook.com',
  'http://10.0.0.1',
  'http://localhost.example',
  'http://127.0.0.1.example',
  'ftp://127.0.0.1',
  'https://user:word@graph.facebook.com',
  'https://graph.facebook.com/v25.0',
  'https://graph.facebook.com/?x=1',
  'graph.facebook.com',
  '',
])('the Graph URL "%s" is refused', async (graphUrl) => {
  await expect(newApp({ graphUrl })).rejects.toMatchObject({ parts: { param: 'graph_url' } })
})

test('an app uses Meta’s Graph URL by default, and the URL can be changed', async () => {
  const { graphUrl: _, ...input } = { name: ' Shop ', appSecret: 'a', verifyToken: 'b', graphUrl: '' }
  const app = await createApp(testServer.db, testServer.clock, testServer.secretKeys, input)
  expect(app).toMatchObject({ name: 'Shop', graphUrl: defaultGraphUrl })
  for (const graphUrl of ['http://localhost:1', 'http://[::1]:2', 'http://127.1:3', 'https://graph.example/']) {
    await expect(newApp({ graphUrl })).resolves.toMatchObject({ graphUrl: new URL(graphUrl).origin })
  }
  await expect(changeGraphUrl(testServer.db, app.id, 'http://graph.example')).rejects.toMatchObject({
    code: 'validation_failed',
  })
  await changeGraphUrl(testServer.db, app.id, 'https://other.example')
  expect((await listApps(testServer.db)).find(({ id }) => id === app.id)?.graphUrl).toBe('https://other.example')
})

test.each([{ name: ' ' }, { appSecret: '' }, { appSecret: 'a b' }, { verifyToken: '\n' }, { name: 'x'.repeat(101) }])(
  'an app with %j is refused',
  async (part) => {
    await expect(newApp(part)).rejects.toMatchObject({ code: 'validation_failed' })
  },
)
