import { expect, test } from 'vitest'
import type { Json } from '../json.ts'
import { startReceiver } from '../testing/receiver.ts'
import { appId, demoSecrets, newWorld, numberId, phone, type TestWorld, wabaId } from '../testing/world.ts'

const appToken = `${appId}|${demoSecrets.appSecret}`
const object = 'whatsapp_business_account'

const errorOf = (response: { body: Json }) => response.body.error as Json | undefined

const subscription = async ({ graph }: TestWorld) =>
  ((await graph('GET', `${appId}/subscriptions`, undefined, appToken)).body.data as Json[])[0] as
    | { callback_url: string; active: boolean; fields: { name: string }[] }
    | undefined

test('an app subscribes to fields, gets only those, and can remove its subscription', async () => {
  const world = await newWorld()
  const { graph, receiver, control } = world
  await graph('DELETE', `${appId}/subscriptions`, undefined, appToken)
  expect(await subscription(world)).toBeUndefined()
  const input = { object, callback_url: receiver.url, verify_token: demoSecrets.verifyToken }
  const set = await graph('POST', `${appId}/subscriptions`, { ...input, fields: 'messages, history' }, appToken)
  expect(set).toEqual({ status: 200, body: { success: true } })
  expect(receiver.handshakes.at(-1)?.get('hub.mode')).toBe('subscribe')
  expect(await subscription(world)).toEqual({
    object,
    callback_url: receiver.url,
    active: true,
    fields: [
      { name: 'messages', version: 'v25.0' },
      { name: 'history', version: 'v25.0' },
    ],
  })
  await control.phones.say(phone, { to: numberId, text: 'hi' })
  control.wabas.notify(wabaId, { field: 'account_update', value: { event: 'VERIFIED_ACCOUNT' } })
  await control.numbers.echo(numberId, { phone, text: 'hello' })
  await control.idle()
  expect(receiver.changes().map(({ field }) => field)).toEqual(['messages'])

  await graph('DELETE', `${appId}/subscriptions?object=${object}&fields=messages`, undefined, appToken)
  expect((await subscription(world))?.fields.map(({ name }) => name)).toEqual(['history'])
  await control.phones.say(phone, { to: numberId, text: 'not sent' })
  await control.idle()
  expect(receiver.messages()).toHaveLength(1)
  expect((await graph('GET', `${appId}?fields=name`, undefined, appToken)).body).toEqual({
    name: 'Demo app',
    id: appId,
  })
})

test('a callback set with the control API gets every field, or the given fields', async () => {
  const world = await newWorld()
  const { control, receiver } = world
  expect((await subscription(world))?.fields).toHaveLength(33)
  control.wabas.notify(wabaId, { field: 'a_later_field', value: {} })
  await control.apps.setCallback(appId, { url: receiver.url, fields: ['messages'] })
  control.wabas.notify(wabaId, { field: 'calls', value: {} })
  await control.idle()
  expect(receiver.changes().map(({ field }) => field)).toEqual(['a_later_field'])
})

test.each<[string, Json, number, RegExp]>([
  ['no object', { object: undefined }, 100, /The parameter object is required/],
  ['another object', { object: 'page' }, 100, /Param object must be one of/],
  ['no callback', { callback_url: undefined }, 100, /The parameter callback_url is required/],
  ['no fields', { fields: '' }, 100, /The parameter fields is required/],
  ['an unknown field', { fields: ['messages', 'shoes'] }, 100, /Param fields\[1\] must be one of \{account_alerts, /],
  ['a wrong verify token', { verify_token: 'wrong' }, 2200, /Callback verification failed: .*HTTP 403/],
])('POST /{app}/subscriptions with %s changes nothing', async (_case, change, code, message) => {
  const world = await newWorld()
  const { graph, receiver } = world
  const before = await subscription(world)
  const good = { object, callback_url: receiver.url, verify_token: demoSecrets.verifyToken, fields: ['messages'] }
  const refused = await graph('POST', `${appId}/subscriptions`, { ...good, ...change }, appToken)
  expect(refused).toMatchObject({ status: 400, body: { error: { code, message: expect.stringMatching(message) } } })
  expect(await subscription(world)).toEqual(before)
})

test('the token of an app is its ID and its secret, and it may use no account', async () => {
  const { graph, control } = await newWorld()
  const other = control.apps.create({ name: 'Other' })
  const read = (token: string, path = `${appId}/subscriptions`) => graph('GET', path, undefined, token)
  expect(errorOf(await read(`${appId}|wrong`))).toMatchObject({
    code: 190,
    message: 'Invalid OAuth access token signature.',
  })
  expect(errorOf(await read('123456|x'))).toMatchObject({ code: 101 })
  expect(errorOf(await read(demoSecrets.accessToken))).toMatchObject({ code: 15 })
  expect(errorOf(await read(`${other.id}|${other.secret}`))).toMatchObject({ code: 100, error_subcode: 33 })
  expect(errorOf(await read(appToken, `${wabaId}/subscribed_apps`))).toMatchObject({ code: 100, error_subcode: 33 })
})

test('debug_token shows the app, the permissions and the accounts of a token of the same app', async () => {
  const { graph, control } = await newWorld()
  const inspect = async (token: string, by = appToken) =>
    (await graph('GET', `debug_token?input_token=${token}`, undefined, by)).body
  const scopes = ['whatsapp_business_management', 'whatsapp_business_messaging']
  expect(await inspect(demoSecrets.accessToken)).toMatchObject({
    data: {
      app_id: appId,
      application: 'Demo app',
      is_valid: true,
      expires_at: 0,
      scopes,
      granular_scopes: scopes.map((scope) => ({ scope, target_ids: [wabaId] })),
    },
  })
  const { token: wide } = control.tokens.create({ appId })
  expect((await inspect(wide)).data).toMatchObject({ granular_scopes: scopes.map((scope) => ({ scope })) })
  control.tokens.change(wide, { expiresAt: '2020-01-01T00:00:00Z' })
  expect((await inspect(wide)).data).toMatchObject({ is_valid: false, error: { code: 190, subcode: 463 } })
  const { token: foreign } = control.tokens.create({ appId: control.apps.create({}).id })
  expect((await inspect(foreign)).error).toMatchObject({
    code: 100,
    message: expect.stringContaining('The App_id in the input_token did not match the Viewing App'),
  })
  expect((await inspect('unknown')).data).toMatchObject({ is_valid: false })
})

test('a token without a permission gets the network’s error', async () => {
  const { graph, control } = await newWorld()
  const messaging = control.tokens.create({ appId, scopes: ['whatsapp_business_messaging'] }).token
  const management = control.tokens.create({ appId, scopes: ['whatsapp_business_management'] }).token
  const list = (token: string) => graph('GET', `${wabaId}/phone_numbers`, undefined, token)
  expect(await list(messaging)).toMatchObject({ status: 403, body: { error: { code: 200 } } })
  expect((await list(management)).status).toBe(200)
  const sent = await graph('POST', `${numberId}/messages`, {}, management)
  expect(sent).toMatchObject({ status: 403, body: { error: { code: 10 } } })
})

test('an account gets a callback of its own only after the app is subscribed to it', async () => {
  const { graph } = await newWorld()
  const own = await startReceiver('w')
  const input = { override_callback_uri: own.url, verify_token: 'w' }
  await graph('DELETE', `${wabaId}/subscribed_apps`)
  expect(errorOf(await graph('POST', `${wabaId}/subscribed_apps`, input))).toMatchObject({
    code: 100,
    message: expect.stringContaining('your app must be subscribed'),
  })
  await graph('POST', `${wabaId}/subscribed_apps`)
  expect((await graph('POST', `${wabaId}/subscribed_apps`, input)).body).toEqual({ success: true })
  expect((await graph('GET', `${wabaId}/subscribed_apps`)).body.data).toMatchObject([
    { override_callback_uri: own.url },
  ])
  own.close()
})
