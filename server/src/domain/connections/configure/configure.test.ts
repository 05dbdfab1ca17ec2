import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { eventsOf } from '../../../../testing/network-app.ts'
import { useSimulator } from '../../../../testing/simulated-network.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { newWorkspace, type TestWorkspace } from '../../../../testing/workspace.ts'
import type { CallOutcome } from '../../../whatsapp/graph/call.ts'
import { changeGraphUrl, createApp, ingressPath, listApps } from '../apps.ts'
import { listConnections } from '../connections.ts'
import { configure, type SetupOptions, type SetupResult } from './configure.ts'
import { inspectConnection, webhookFields } from './inspect.ts'
import type { SetupInput } from './prepare.ts'

const server = useTestServer()
const simulated = useSimulator(server)

/** An app at Meta that is not set up, an account that does not send to it, and a token for both. */
interface Meta {
  appId: string
  secret: string
  wabaId: string
  numberId: string
  phoneNumber: string
  token: string
}

let meta: Meta
let workspace: TestWorkspace
let lines = 15_552_000_000

beforeEach(async () => {
  const { control } = simulated
  const app = control.apps.create({ name: 'Shop app' })
  const waba = control.wabas.create({ appIds: [] })
  const phoneNumber = String(++lines)
  const number = control.numbers.create({ wabaId: waba.id, phoneNumber, verifiedName: 'Shop' })
  const { token } = control.tokens.create({ appId: app.id, wabaIds: [waba.id] })
  meta = { appId: app.id, secret: app.secret, wabaId: waba.id, numberId: number.id, phoneNumber, token }
  workspace = await newWorkspace(server)
})

const appOf = (change: object = {}) => ({
  metaAppId: meta.appId,
  appSecret: meta.secret,
  graphUrl: simulated.simulator.url,
  ...change,
})

const setUp = (change: Partial<SetupInput> = {}, options: Partial<SetupOptions> = {}): Promise<SetupResult> =>
  configure(
    simulated.network,
    { app: appOf(), accessToken: meta.token, workspaceId: workspace.id, ...change },
    { publicUrl: server.url, ...options },
  )

const verdicts = ({ steps }: SetupResult) => Object.fromEntries(steps.map(({ step, verdict }) => [step, verdict]))
const allOk = { app: 'ok', token: 'ok', webhook: 'ok', connection: 'ok', subscription: 'ok', numbers: 'ok' }
const networkApp = () => simulated.control.apps.list().find(({ id }) => id === meta.appId)
const storedApps = async () => (await listApps(server.db)).filter(({ metaAppId }) => metaAppId === meta.appId)
const account = () => simulated.control.wabas.list().find(({ id }) => id === meta.wabaId)

/** The result of `work`, and the changes that it asked the network for. */
async function observed<T>(work: () => Promise<T>): Promise<{ result: T; changes: string[] }> {
  const log = () => simulated.control.log.list({ limit: 1_000_000 })
  const before = log().length
  const result = await work()
  const changes = log()
    .slice(before)
    .flatMap((line) => (line.kind === 'call' && line.method !== 'GET' ? [`${line.method} ${line.url}`] : []))
  return { result, changes }
}

async function graph(path: string, body: object, token = meta.token): Promise<void> {
  const response = await fetch(`${simulated.simulator.url}/v25.0/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status, await response.clone().text()).toBe(200)
}

/** Changes what the client says about the call that sets the callback, until the end of the test. */
function respondToSubscribe(respond: (call: () => Promise<CallOutcome<true>>) => Promise<CallOutcome<true>>) {
  const { client } = simulated.network
  const real = client.subscribe.bind(client)
  client.subscribe = (...words) => respond(() => real(...words))
  const restore = () => {
    client.subscribe = real
  }
  onTestFinished(restore)
  return restore
}

test('an empty app is set up, and a message arrives', async () => {
  const result = await setUp()
  expect(result).toMatchObject({ state: 'done', app: { name: 'Shop app', metaAppId: meta.appId } })
  expect(verdicts(result)).toEqual({
    app: 'changed',
    token: 'ok',
    webhook: 'changed',
    connection: 'changed',
    subscription: 'changed',
    numbers: 'ok',
  })
  const callback = `${server.url}${ingressPath(result.app?.id ?? '')}`
  expect(networkApp()).toMatchObject({ callbackUrl: callback, fields: [...webhookFields] })
  expect(result.steps.map(({ wanted }) => wanted)).toEqual(
    expect.arrayContaining([
      `callback ${callback}, ${webhookFields.length} fields`,
      expect.stringMatching(/^connected to .*: 1 sender, 0 templates$/),
    ]),
  )
  await simulated.control.phones.say('16505550123', { to: meta.phoneNumber, text: 'Are you open?' })
  await simulated.control.idle()
  const events = await until('the message has arrived', async () => {
    const all = await eventsOf(server, workspace.id)
    return all.length > 0 && all
  })
  expect(events).toMatchObject([{ type: 'message.received', data: { text: 'Are you open?' } }])
})

test('a second run changes nothing, here and at Meta', async () => {
  const first = await setUp()
  const rows = () =>
    server.db.rows('select a.*, c.* from apps a join connections c on c.app_id = a.id where a.meta_app_id = $1', [
      meta.appId,
    ])
  const before = [await rows(), structuredClone(networkApp()), structuredClone(account())]
  const { result: second, changes } = await observed(() => setUp())
  expect(changes).toEqual([])
  expect(verdicts(second)).toEqual(allOk)
  expect(second).toMatchObject({ state: 'done', app: { id: first.app?.id }, connection: { id: first.connection?.id } })
  expect([await rows(), networkApp(), account()]).toEqual(before)
})

test('a check reports everything and changes nothing', async () => {
  const { result, changes } = await observed(() => setUp({}, { check: true }))
  expect(changes).toEqual([])
  expect(result).toMatchObject({
    state: 'checked',
    steps: [
      { step: 'app', verdict: 'would_change' },
      { step: 'token', verdict: 'ok', found: 'valid, does not expire' },
      { step: 'webhook', verdict: 'would_change', found: 'no callback' },
      { step: 'connection', verdict: 'would_change' },
      { step: 'subscription', verdict: 'would_change' },
      { step: 'numbers', verdict: 'ok', found: '1 phone number' },
    ],
  })
  expect(await storedApps()).toEqual([])
})

const scopes = (...names: string[]) => names.map((name) => `whatsapp_business_${name}`)

test.each<[string, () => Partial<SetupInput>, string, RegExp]>([
  [
    'a wrong secret',
    () => ({ app: appOf({ appSecret: 'wrong' }) }),
    'app_secret',
    /^The app secret is not that of app \d+\./,
  ],
  [
    'an unknown app',
    () => ({ app: appOf({ metaAppId: '123456' }) }),
    'app_id',
    /^Meta does not know app 123456: .*101/,
  ],
  ['no app ID', () => ({ app: appOf({ metaAppId: 'Shop' }) }), 'app_id', /^"Shop" is not an app ID\./],
  ['a wrong token', () => ({ accessToken: 'wrong' }), 'access_token', /^The access token is not valid: /],
  [
    'a token without a permission',
    () => ({ accessToken: simulated.control.tokens.create({ appId: meta.appId, scopes: scopes('messaging') }).token }),
    'access_token',
    /^The access token lacks whatsapp_business_management\. /,
  ],
  [
    'the token of another app',
    () => ({ accessToken: simulated.control.tokens.create({ appId: simulated.control.apps.create({}).id }).token }),
    'access_token',
    /^The access token belongs to another app\. Generate one for app \d+\.$/,
  ],
  [
    'an expired token',
    () => {
      simulated.control.tokens.change(meta.token, { expiresAt: '2020-01-01T00:00:00Z' })
      return {}
    },
    'access_token',
    /^The access token is not valid: .*Session has expired/,
  ],
  [
    'a token for another account',
    () => ({ wabaId: simulated.control.wabas.create({ appIds: [] }).id }),
    'waba_id',
    /^The access token cannot use account \d+: .*does not exist/,
  ],
  [
    'a token for several accounts',
    () => {
      const other = simulated.control.wabas.create({ appIds: [] }).id
      simulated.control.tokens.change(meta.token, { wabaIds: [meta.wabaId, other] })
      return {}
    },
    'waba_id',
    /^The token is for several accounts\. Enter one of \d+, \d+\.$/,
  ],
  [
    'a token whose accounts Meta does not name',
    () => {
      simulated.control.tokens.change(meta.token, { wabaIds: null })
      return {}
    },
    'waba_id',
    /^Meta does not say which account the token is for\. Enter the account ID\.$/,
  ],
  ['an account ID that is a path', () => ({ wabaId: '../me' }), 'waba_id', /is not a WABA ID/],
])('%s is refused, and nothing is stored or changed', async (_case, change, param, message) => {
  const input = change()
  const { result, changes } = await observed(() => setUp(input).catch((error: unknown) => error))
  expect(result).toMatchObject({ code: 'validation_failed', parts: { param, message: expect.stringMatching(message) } })
  expect(changes).toEqual([])
  expect(await listConnections(server.db, workspace.id)).toEqual([])
  expect(await storedApps()).toEqual([])
})

test('another callback is replaced only if that is wanted', async () => {
  const other = 'http://127.0.0.1:9/other'
  await simulated.control.apps.setCallback(meta.appId, { url: other, verify: false, fields: ['messages', 'calls'] })
  const { result, changes } = await observed(() => setUp())
  expect(changes).toEqual([])
  expect(result).toMatchObject({
    state: 'conflict',
    steps: expect.arrayContaining([
      expect.objectContaining({ step: 'webhook', verdict: 'conflict', remedy: expect.stringContaining(other) }),
    ]),
  })
  expect(await storedApps()).toEqual([])
  const replaced = await setUp({}, { replaceCallback: true })
  expect(verdicts(replaced)).toMatchObject({ webhook: 'changed' })
  expect(networkApp()?.callbackUrl).toBe(server.url + ingressPath(replaced.app?.id ?? ''))
})

test('callbacks of the account and of a number are replaced only if that is wanted', async () => {
  await setUp()
  // A callback that passes the handshake.
  const elsewhere = await createApp(server.db, server.clock, server.secretKeys, {
    name: 'Elsewhere',
    appSecret: 'x',
    verifyToken: 'there',
  })
  const callback = { override_callback_uri: server.url + ingressPath(elsewhere.id), verify_token: 'there' }
  await graph(`${meta.wabaId}/subscribed_apps`, callback)
  await graph(meta.numberId, { webhook_configuration: callback })
  const connection = (await listConnections(server.db, workspace.id))[0]
  expect(await inspectConnection(simulated.network, connection?.id ?? '')).toMatchObject({
    token: {
      kind: 'ok',
      value: { isValid: true, metaAppId: meta.appId, expiresAt: null, missingScopes: [], isForeign: false },
    },
    subscription: { kind: 'ok', value: { isActive: true, missing: [] } },
    account: { kind: 'ok', value: { isSubscribed: true, overrideUrl: callback.override_callback_uri } },
    numbers: { kind: 'ok', value: [{ phoneNumberId: meta.numberId, overrideUrl: callback.override_callback_uri }] },
  })
  const asked = await setUp()
  expect(asked.state).toBe('conflict')
  expect(verdicts(asked)).toEqual({ ...allOk, subscription: 'conflict', numbers: 'conflict' })
  const replaced = await setUp({}, { replaceCallback: true })
  expect(verdicts(replaced)).toEqual({ ...allOk, subscription: 'changed', numbers: 'changed' })
  expect(verdicts(await setUp())).toEqual(allOk)
})

test('another callback of the app stays if the account sends its messages here', async () => {
  const { app } = await setUp()
  const url = server.url + ingressPath(app?.id ?? '')
  const verify_token = (await simulated.network.vault.openApp(app?.id ?? ''))?.verifyToken
  await graph(`${meta.wabaId}/subscribed_apps`, { override_callback_uri: url, verify_token })
  const other = 'http://127.0.0.1:9/other'
  await simulated.control.apps.setCallback(meta.appId, { url: other, verify: false })
  const { result, changes } = await observed(() => setUp({}, { replaceCallback: true }))
  expect(changes).toEqual([])
  expect(verdicts(result)).toEqual(allOk)
  expect(result.steps.find(({ step }) => step === 'webhook')?.remedy).toContain('Messages arrive here')

  // The callbacks of all numbers have the same effect, and come before that of the account.
  await graph(`${meta.wabaId}/subscribed_apps`, {})
  expect(verdicts(await setUp())).toMatchObject({ webhook: 'conflict' })
  await graph(meta.numberId, { webhook_configuration: { override_callback_uri: url, verify_token } })
  expect(verdicts(await setUp())).toEqual(allOk)
  const elsewhere = await createApp(server.db, server.clock, server.secretKeys, {
    name: 'Elsewhere',
    appSecret: 'x',
    verifyToken: 'there',
  })
  await graph(`${meta.wabaId}/subscribed_apps`, {
    override_callback_uri: server.url + ingressPath(elsewhere.id),
    verify_token: 'there',
  })
  expect(verdicts(await setUp())).toEqual(allOk)

  // Without the field, nothing arrives.
  await simulated.control.apps.setCallback(meta.appId, { url: other, verify: false, fields: ['flows'] })
  expect(verdicts(await setUp())).toMatchObject({ webhook: 'conflict' })
})

test('the audit entry says what the set-up changes', async () => {
  const recorded: object[] = []
  const audit = async (_tx: unknown, _app: unknown, after: object) => void recorded.push(after)
  await simulated.control.apps.setCallback(meta.appId, { url: 'http://127.0.0.1:9/other', verify: false })
  await setUp({}, { audit })
  expect(recorded).toEqual([])
  await setUp({}, { audit, replaceCallback: true })
  await setUp({}, { audit, replaceCallback: true })
  const network = networkApp()
  if (network) network.secret = 'renewed'
  const { token } = simulated.control.tokens.create({ appId: meta.appId, wabaIds: [meta.wabaId] })
  await setUp({ app: appOf({ appSecret: 'renewed' }), accessToken: token }, { audit })
  const ids = { meta_app_id: meta.appId, waba_id: meta.wabaId }
  expect(recorded).toEqual([
    { ...ids, callbacks: 'replaced' },
    { ...ids, callbacks: 'kept' },
    { ...ids, callbacks: 'kept', app_secret: 'replaced', access_token: 'replaced' },
  ])
})

test('missing fields are added, and fields that were added manually stay', async () => {
  const { app } = await setUp()
  const url = server.url + ingressPath(app?.id ?? '')
  await simulated.control.apps.setCallback(meta.appId, { url, verify: false, fields: ['messages', 'calls'] })
  const result = await setUp()
  expect(verdicts(result)).toEqual({ ...allOk, webhook: 'changed' })
  expect(result.steps.find(({ step }) => step === 'webhook')?.found).toContain(`, 1 of ${webhookFields.length} fields`)
  expect(networkApp()?.fields?.toSorted()).toEqual([...webhookFields, 'calls'].toSorted())
})

test('a field that Meta does not offer is left out', async () => {
  const { app } = await setUp()
  const url = server.url + ingressPath(app?.id ?? '')
  const fields = ['not_offered', 'messages', 'gone']
  await simulated.control.apps.setCallback(meta.appId, { url, verify: false, fields })
  const result = await setUp()
  expect(result.state).toBe('done')
  expect(result.steps.find(({ step }) => step === 'webhook')).toMatchObject({
    verdict: 'changed',
    wanted: `callback ${url}, ${webhookFields.length} fields`,
    remedy: 'Meta does not offer the app the webhook fields not_offered, gone.',
  })
  expect(networkApp()?.fields?.toSorted()).toEqual([...webhookFields].toSorted())
})

test('without the field messages, nothing is set up', async () => {
  respondToSubscribe(async () => ({
    kind: 'refused',
    status: 400,
    error: {
      code: 100,
      title: 'Invalid parameter',
      message: `(#100) Param fields[${webhookFields.indexOf('messages')}] must be one of {calls} - got "messages".`,
      details: null,
    },
    isTransient: false,
    retryAfterMs: null,
  }))
  expect(await setUp()).toMatchObject({ state: 'failed', app: undefined })
})

test('a callback that fails the handshake leaves nothing behind', async () => {
  const failed = await setUp({}, { publicUrl: 'http://127.0.0.1:9' })
  expect(failed).toMatchObject({
    state: 'failed',
    app: undefined,
    steps: [
      { step: 'app', verdict: 'changed' },
      { step: 'token' },
      { step: 'webhook', verdict: 'failed', remedy: expect.stringMatching(/Callback verification failed.*2200/) },
    ],
  })
  expect(await storedApps()).toEqual([])
  expect(networkApp()?.callbackUrl).toBeNull()
  expect((await setUp()).state).toBe('done')
})

test('an app whose callback Meta may have accepted stays, and the next run continues with it', async () => {
  const restore = respondToSubscribe(async (accepted) => {
    expect(await accepted()).toEqual({ kind: 'ok', value: true })
    return { kind: 'unknown', why: 'timeout', status: null }
  })
  const lost = await setUp()
  restore()
  expect(lost).toMatchObject({ state: 'failed', app: { metaAppId: meta.appId } })
  const again = await setUp()
  expect(again).toMatchObject({ state: 'done', app: { id: lost.app?.id } })
  expect(verdicts(again)).toMatchObject({ app: 'ok', webhook: 'ok', connection: 'changed' })
})

test('the callback of an app that is not stored here any more is replaced without asking', async () => {
  const url = server.url + ingressPath('01890000-0000-7000-8000-000000000000')
  await simulated.control.apps.setCallback(meta.appId, { url, verify: false })
  expect(verdicts(await setUp({}, { check: true }))).toMatchObject({ webhook: 'would_change' })
  expect(await setUp()).toMatchObject({ state: 'done' })
})

test('an app that was registered without its ID is set up further', async () => {
  const input = { name: 'Manual', appSecret: meta.secret, verifyToken: 'manual', graphUrl: simulated.simulator.url }
  const app = await createApp(server.db, server.clock, server.secretKeys, input)
  const url = server.url + ingressPath(app.id)
  await simulated.control.apps.setCallback(meta.appId, { url, verifyToken: 'manual' })
  const result = await setUp()
  expect(result).toMatchObject({ state: 'done', app: { id: app.id } })
  expect(verdicts(result)).toMatchObject({ app: 'changed', webhook: 'ok' })
  expect(await storedApps()).toMatchObject([{ id: app.id, name: 'Manual' }])
})

test('the token of another app is noticed later', async () => {
  const { app, connection } = await setUp()
  await server.db.change('update apps set meta_app_id = $2 where id = $1', [
    app?.id,
    simulated.control.apps.create({}).id,
  ])
  expect(await inspectConnection(simulated.network, connection?.id ?? '')).toMatchObject({
    token: { kind: 'ok', value: { isValid: true, isForeign: true } },
  })
})

test('a new secret and a new token replace the stored ones', async () => {
  const { connection, app } = await setUp()
  const network = networkApp()
  if (network) network.secret = 'renewed'
  const { token } = simulated.control.tokens.create({ appId: meta.appId, wabaIds: [meta.wabaId] })
  const result = await setUp({ app: appOf({ appSecret: 'renewed' }), accessToken: token })
  expect(verdicts(result)).toEqual({ ...allOk, app: 'changed', connection: 'changed' })
  const { vault } = simulated.network
  expect((await vault.openApp(app?.id ?? ''))?.appSecret).toBe('renewed')
  expect((await vault.accessFor(connection?.id ?? ''))?.accessToken).toBe(token)
})

test('two set-ups at the same time store the app once', async () => {
  const { id: wabaId } = simulated.control.wabas.create({ appIds: [] })
  simulated.control.tokens.change(meta.token, { wabaIds: [meta.wabaId, wabaId] })
  const results = await Promise.all([setUp({ wabaId: meta.wabaId }), setUp({ wabaId })])
  const apps = await storedApps()
  expect(apps).toHaveLength(1)
  expect(results).toMatchObject(results.map(() => ({ state: 'done', app: { id: apps[0]?.id } })))
  expect(networkApp()?.callbackUrl).toBe(server.url + ingressPath(apps[0]?.id ?? ''))
  const { appSecret, verifyToken } = { appSecret: meta.secret, verifyToken: 'other' }
  const input = { name: 'Again', appSecret, verifyToken, graphUrl: 'http://127.0.0.1:9', metaAppId: meta.appId }
  const elsewhere = await createApp(server.db, server.clock, server.secretKeys, input)
  await expect(changeGraphUrl(server.db, elsewhere.id, simulated.simulator.url)).rejects.toMatchObject({
    parts: { param: 'graph_url', message: `App ${apps[0]?.id} has the ID ${meta.appId} at this URL already.` },
  })
})

test('an account of another workspace is refused', async () => {
  await setUp()
  const other = await newWorkspace(server)
  await expect(setUp({ workspaceId: other.id })).rejects.toMatchObject({
    parts: { param: 'waba_id', errors: [{ code: 'already_connected' }] },
  })
})

test('Meta gets only a public https callback', async () => {
  const { app } = await setUp()
  await server.db.change(`update apps set graph_url = 'https://graph.facebook.com' where id = $1`, [app?.id])
  const client = Object.create(simulated.network.client) as typeof simulated.network.client
  // Calls the simulator in place of Meta.
  for (const name of [
    'readAppName',
    'inspectToken',
    'readSubscription',
    'listSubscribedApps',
    'listPhoneNumbers',
  ] as const) {
    const call = simulated.network.client[name].bind(simulated.network.client) as (...words: unknown[]) => unknown
    Object.assign(client, {
      [name]: (access: object, ...rest: unknown[]) => call({ ...access, graphUrl: simulated.simulator.url }, ...rest),
    })
  }
  const input = { app: { id: app?.id ?? '' }, accessToken: meta.token, workspaceId: workspace.id }
  const result = await configure({ ...simulated.network, client }, input, { publicUrl: 'http://192.168.1.2:8080' })
  expect(result).toMatchObject({
    state: 'failed',
    steps: expect.arrayContaining([
      expect.objectContaining({
        step: 'webhook',
        verdict: 'failed',
        remedy: expect.stringContaining('Set PUBLIC_URL'),
      }),
    ]),
  })
})
