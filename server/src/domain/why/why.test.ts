import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@parley/simulator/clock'
import { afterEach, expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { anyTarget } from '../../../testing/deliveries.ts'
import { type TestShop, useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { withoutPrefix } from '../../lib/ids.ts'
import { ingressPath } from '../connections/apps.ts'
import { inspectConnection } from '../connections/configure/inspect.ts'
import { replaceAppSecrets } from '../connections/replace-secrets.ts'
import { syncConnection } from '../connections/sync.ts'
import { giveCredits } from '../credits/credits.ts'
import { checkBalances, checkParked, checkSignatures, checkTemplates, checkUnknownNumbers } from '../health/accounts.ts'
import { checkAccounts } from '../health/check-accounts.ts'
import type { Finding } from '../health/finding.ts'
import type { Fix, Station } from '../health/station.ts'
import { checkEndpoints } from '../health/traffic.ts'
import { createWebhook, disableWebhook } from '../webhooks/webhooks.ts'
import { applyFix, fixesOf } from './fix.ts'
import { explain, explainUnknown, locate } from './why.ts'

const server = useTestServer()
const sending = useSending(server, { clock: { ...systemClock, now: () => server.clock.now() } })

const phone = '16505550123'

async function newShop(): Promise<TestShop & { webhookId: string; metaAppId: string }> {
  const shop = await sending.newShop()
  const { webhook } = await createWebhook(server.db, server.clock, server.secretKeys, anyTarget, {
    workspaceId: shop.workspace.id,
    name: 'Orders',
    url: 'https://example.com/hook',
    events: ['message.received', 'message.sent', 'message.delivered', 'message.read', 'message.failed'],
  })
  const app = sending.network.control.apps.list().find(({ secret }) => secret === shop.account.appSecret)
  return { ...shop, webhookId: webhook.id, metaAppId: app?.id ?? '' }
}

/** Every line of the reports of this file. */
const said = new Set<string>()
const withoutNumbers = (text: string) => text.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d+/g, '#')

async function why({ workspace }: Pick<TestShop, 'workspace'>, about: string) {
  const { network } = sending.network
  const db = server.db.within(workspace.id)
  const subject = await locate(db, workspace.id, about)
  if (!subject) throw new Error(`nothing found for ${about}`)
  const deps = {
    db,
    clock: server.clock,
    role: 'admin',
    network,
    publicUrl: server.url,
    inspect: inspectConnection,
  } as const
  const report = await explain(deps, workspace.id, subject)
  for (const { station, verdict, message } of report.stations)
    said.add(withoutNumbers(`${verdict} ${station} ${message}`))
  return report
}

const doctor = async (check: string): Promise<Finding> => {
  const findings = await checkAccounts(sending.network.network, server.url, () => {})
  return findings.find((each) => each.check === check) as Finding
}

async function fix(stations: readonly Station[]): Promise<Fix['kind'][]> {
  const fixes = fixesOf(stations)
  for (const each of fixes)
    expect(await applyFix(sending.network.network, server.url, each)).toMatchObject({ ok: true })
  return fixes.map(({ kind }) => kind)
}

const graph = (path: string, accessToken: string, method = 'POST', body?: object) =>
  fetch(`${sending.network.simulator.url}/v25.0/${path}`, {
    method,
    headers: { authorization: `Bearer ${accessToken}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  }).then(async (response) =>
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 }),
  )

const lineOf = (stations: readonly Station[], name: string) => stations.find(({ station }) => station === name)

/** The sender of a shop, by its phone number. */
const ofSender = (shop: TestShop) => why(shop, shop.account.phoneNumber)

afterEach(() => server.clock.forward({ minutes: 1 }))

test('for a sender that works, it says that nothing is wrong and what it cannot see', async () => {
  const shop = await newShop()
  await sending.network.control.phones.say(phone, { to: shop.account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  const report = await ofSender(shop)
  expect(report.stations.filter(({ verdict }) => verdict !== 'ok')).toEqual([])
  expect(report).toMatchObject({
    about: { kind: 'sender', id: shop.senderId },
    verdict: 'ok',
    conclusion: 'Nothing is wrong.',
  })
  expect(report.unseen.join()).toContain('development mode')
  expect((await doctor('callbacks')).message).toContain('Parley cannot see development mode')
  expect(report.stations.map(({ station }) => station)).toEqual([
    'account',
    'sender',
    'access tokens',
    'subscriptions',
    'webhook fields',
    'callbacks',
    'numbers',
    'account sync',
    'last webhook',
    'app',
    'signatures',
    'parked updates',
    'network updates',
    'webhook',
  ])
  expect(fixesOf(report.stations)).toEqual([])
  for (const about of [shop.senderId, `+${shop.account.phoneNumber}`, shop.account.wabaId]) {
    expect((await why(shop, about)).conclusion).toBe('Nothing is wrong.')
  }
})

test('a webhook field that is not subscribed is named, and fixed', async () => {
  const shop = await newShop()
  const asApp = `${shop.metaAppId}|${shop.account.appSecret}`
  await graph(`${shop.metaAppId}/subscriptions?object=whatsapp_business_account&fields=messages`, asApp, 'DELETE')
  const report = await ofSender(shop)
  expect(report).toMatchObject({
    verdict: 'problem',
    conclusion: 'The app is not subscribed to the webhook field "messages". No messages and statuses arrive.',
    remedy: `Run: ./parley why ${shop.account.wabaId} --fix`,
  })
  expect(lineOf(report.stations, 'webhook fields')?.details).toEqual(['Missing: messages'])
  const found = await doctor('webhook fields')
  expect(found).toMatchObject({ verdict: 'problem', remedy: expect.stringContaining('--fix') })
  expect(found.details.join()).toContain(`${shop.connection.id} (account ${shop.account.wabaId})`)
  expect(await fix(report.stations)).toEqual(['subscribe_fields'])
  const again = await ofSender(shop)
  expect(lineOf(again.stations, 'webhook fields')?.verdict).toBe('ok')
  expect(fixesOf(again.stations)).toEqual([])
})

test('a field that Meta does not offer does not keep the others from being subscribed', async () => {
  const shop = await newShop()
  const { network, control } = sending.network
  const url = server.url + ingressPath(shop.connection.appId)
  await control.apps.setCallback(shop.metaAppId, { url, verify: false, fields: ['not_offered'] })
  const fix = { kind: 'subscribe_fields', connectionId: shop.connection.id } as const
  expect(await applyFix(network, server.url, fix)).toEqual({
    fix,
    ok: true,
    message: 'Subscribed the app to all webhook fields that Meta offers it.',
  })
  expect(lineOf((await ofSender(shop)).stations, 'webhook fields')?.verdict).toBe('ok')
})

test('fields are not subscribed if the app has another callback by now, or if Meta does not say', async () => {
  const shop = await newShop()
  const asApp = `${shop.metaAppId}|${shop.account.appSecret}`
  await graph(`${shop.metaAppId}/subscriptions?object=whatsapp_business_account&fields=messages`, asApp, 'DELETE')
  const { network, control } = sending.network
  const apply = () => applyFix(network, server.url, { kind: 'subscribe_fields', connectionId: shop.connection.id })
  const isChanged = async () => lineOf((await ofSender(shop)).stations, 'webhook fields')?.verdict === 'ok'
  const { appId } = shop.connection
  await replaceAppSecrets(server.db, server.secretKeys, appId, { appSecret: 'wrong' })
  expect(await apply()).toMatchObject({ ok: false, message: expect.stringContaining('Meta refused') })
  await replaceAppSecrets(server.db, server.secretKeys, appId, { appSecret: shop.account.appSecret })
  const other = await newShop()
  const url = server.url + ingressPath(other.connection.appId)
  await control.apps.setCallback(shop.metaAppId, { url, verifyToken: 'verify-me' })
  expect(await apply()).toMatchObject({ ok: false, message: expect.stringContaining('another callback URL') })
  expect(await isChanged()).toBe(false)
})

test('an app that is not subscribed to the account is named, and fixed', async () => {
  const shop = await newShop()
  await graph(`${shop.account.wabaId}/subscribed_apps`, shop.account.token, 'DELETE')
  const report = await ofSender(shop)
  expect(report.conclusion).toBe(`The app is not subscribed to account ${shop.account.wabaId}. No webhooks arrive.`)
  expect((await doctor('subscriptions')).details.join()).toContain(shop.connection.id)
  expect(await fix(report.stations)).toEqual(['subscribe_app'])
  expect(fixesOf((await ofSender(shop)).stations)).toEqual([])
})

test.each(['account', 'number'])('an override of the callback at the %s is named and not removed', async (at) => {
  const shop = await newShop()
  const other = await newShop()
  const url = server.url + ingressPath(other.connection.appId)
  const override = { override_callback_uri: url, verify_token: 'verify-me' }
  const number = sending.network.control.numbers.list().find((each) => each.phoneNumber === shop.account.phoneNumber)
  if (at === 'account') await graph(`${shop.account.wabaId}/subscribed_apps`, shop.account.token, 'POST', override)
  else await graph(number?.id ?? '', shop.account.token, 'POST', { webhook_configuration: override })
  const report = await ofSender(shop)
  expect(report.conclusion).toContain('overrides the callback URL')
  expect(report.remedy).toContain('--replace-callback')
  expect(lineOf(report.stations, 'callbacks')?.details.join()).toContain(url)
  const found = await doctor('callbacks')
  expect(found.details.join()).toContain(`${shop.connection.id} (account ${shop.account.wabaId})`)
  expect(await fix(report.stations)).toEqual([])
})

test('an expired token is named without the token itself', async () => {
  const shop = await newShop()
  const { tokens } = sending.network.control
  tokens.change(shop.account.token, { expiresAt: '2020-01-01T00:00:00.000Z' })
  const report = await ofSender(shop)
  expect(report).toMatchObject({
    conclusion: 'WhatsApp does not accept the access token of the account. Messages are not sent.',
    remedy: expect.stringContaining(`./parley connection change ${shop.connection.id}`),
  })
  expect(report.stations.flatMap(({ details }) => details).join()).not.toContain(shop.account.token)
  expect((await doctor('access tokens')).details.join()).toContain(shop.connection.id)
})

test('why an account could not be checked is for operators', async () => {
  const shop = await newShop()
  const broken = `update connections set access_token_sealed = 'lost:x' where id = $1`
  await server.db.change(broken, [shop.connection.id])
  const { workspace } = shop
  const member = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const { body } = await member.call(`/w/${workspace.id}/why?about=${shop.senderId}`)
  expect(lineOf(body.stations, 'access tokens')).toMatchObject({
    verdict: 'problem',
    message: 'The account could not be checked.',
    details: [],
  })
  expect((await doctor('access tokens')).details.join()).toContain('The account could not be checked. no secret key')
})

test('with a wrong app secret, the rejected webhooks and the secret are named until it is right', async () => {
  const shop = await newShop()
  await replaceAppSecrets(server.db, server.secretKeys, shop.connection.appId, { appSecret: 'wrong' })
  await sending.network.control.phones.say(phone, { to: shop.account.phoneNumber, text: 'hi' })
  const { appId } = shop.connection
  const rejected = () => checkSignatures(server.db, server.clock, { appId, isSecretRight: false })
  await until('the webhook is rejected', async () => (await rejected()).verdict === 'warning')
  const report = await ofSender(shop)
  expect(report.conclusion).toContain('Meta rejects the app secret')
  expect(report.remedy).toContain(`./parley app change ${shop.connection.appId}`)
  expect(lineOf(report.stations, 'signatures')).toMatchObject({
    verdict: 'warning',
    remedy: expect.stringContaining('./parley app change'),
  })
  expect((await rejected()).details.join()).toContain(shop.connection.appId)
  await replaceAppSecrets(server.db, server.secretKeys, shop.connection.appId, { appSecret: shop.account.appSecret })
  server.clock.forward({ minutes: 1 })
  // Saving the callback makes the network repeat the webhook now.
  const url = server.url + ingressPath(shop.connection.appId)
  await sending.network.control.apps.setCallback(shop.metaAppId, { url, verifyToken: 'verify-me' })
  await sending.network.control.idle()
  expect((await rejected()).verdict).toBe('ok')
})

test('a forged webhook does not make a right app secret look wrong, and a status ends the warning', async () => {
  const shop = await newShop()
  const { appId } = shop.connection
  const headers = { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` }
  await fetch(server.url + ingressPath(appId), { method: 'POST', headers, body: '{}' })
  const signatures = () => checkSignatures(server.db, server.clock)
  await until('it is rejected', async () => (await signatures()).details.join().includes(appId))
  expect((await signatures()).verdict).toBe('warning')
  const report = await ofSender(shop)
  expect(report.verdict).toBe('warning')
  expect(lineOf(report.stations, 'signatures')?.message).toContain('Its secret is right.')
  server.clock.forward({ minutes: 1 })
  await shop.sendText(phone)
  await sending.drain()
  expect((await signatures()).details.join()).not.toContain(appId)
})

test('a number of an account that is not connected is named for operators', async () => {
  const shop = await newShop()
  const { control } = sending.network
  const waba = control.wabas.create({ appIds: [shop.metaAppId] })
  const number = control.numbers.create({ wabaId: waba.id, phoneNumber: '15559990001', verifiedName: 'Elsewhere' })
  await control.phones.say(phone, { to: '15559990001', text: 'hi' })
  await control.idle()
  const report = await explainUnknown(server.db, server.clock, '15559990001')
  for (const { station, verdict, message } of report.stations)
    said.add(withoutNumbers(`${verdict} ${station} ${message}`))
  expect(report).toMatchObject({ about: { kind: 'number' }, verdict: 'warning' })
  expect(report.conclusion).toContain('Messages arrive for')
  expect(report.remedy).toContain('./parley connection create')
  expect((await checkUnknownNumbers(server.db, server.clock)).details.join()).toContain(number.id)
  expect(await locate(server.db.within(shop.workspace.id), shop.workspace.id, number.id)).toBeUndefined()
})

test('updates of a number that was not synced are parked, and a sync publishes them', async () => {
  const shop = await newShop()
  const { control } = sending.network
  control.numbers.create({ wabaId: shop.account.wabaId, phoneNumber: '15559990002', verifiedName: 'New' })
  await control.phones.say(phone, { to: '15559990002', text: 'hi' })
  await control.idle()
  server.clock.forward({ minutes: 2 })
  const report = await why(shop, shop.account.wabaId)
  expect(lineOf(report.stations, 'parked updates')).toMatchObject({
    verdict: 'warning',
    remedy: expect.stringContaining('./parley connection sync'),
  })
  expect((await checkParked(server.db, server.clock)).details.join()).toContain(shop.connection.id)
  expect(await fix(report.stations)).toEqual(['sync'])
})

test('what concerns another account or another number of the workspace is not the cause', async () => {
  const shop = await newShop()
  const other = sending.network.newAccount()
  const { id } = await other.connect(shop.workspace)
  await server.db.change(`update connections set sync_failures = 3, sync_error = 'x' where id = $1`, [id])
  const { control } = sending.network
  control.numbers.create({ wabaId: shop.account.wabaId, phoneNumber: '15559990003', verifiedName: 'New' })
  await control.phones.say(phone, { to: '15559990003', text: 'hi' })
  await control.idle()
  server.clock.forward({ minutes: 2 })
  const report = await ofSender(shop)
  expect(report.stations.filter(({ verdict }) => verdict === 'warning')).toEqual([])
  expect(lineOf((await why(shop, other.wabaId)).stations, 'account sync')?.verdict).toBe('warning')
})

test('advice, such as to set a PIN, does not hide a likely cause', async () => {
  const shop = await sending.newShop()
  const { tokens } = sending.network.control
  tokens.change(shop.account.token, { expiresAt: new Date(server.clock.now().getTime() + 86_400_000).toISOString() })
  expect(await ofSender(shop)).toMatchObject({ conclusion: expect.stringContaining('No webhook gets') })
  await createWebhook(server.db, server.clock, server.secretKeys, anyTarget, {
    ...{ workspaceId: shop.workspace.id, name: 'Orders', url: 'https://example.com/hook' },
    events: ['message.received'],
  })
  expect(await ofSender(shop)).toMatchObject({ conclusion: expect.stringContaining('The access token is valid until') })
})

test('a disabled webhook, a webhook for other senders and one for other events have different lines', async () => {
  const shop = await newShop()
  await createWebhook(server.db, server.clock, server.secretKeys, anyTarget, {
    workspaceId: shop.workspace.id,
    name: 'Forms',
    url: 'https://example.com/forms',
    events: ['flow.completed'],
  })
  await disableWebhook(server.db, server.clock, shop.webhookId, 'the shop moves servers')
  await sending.network.control.phones.say(phone, { to: shop.account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  const report = await ofSender(shop)
  expect(report).toMatchObject({
    verdict: 'problem',
    conclusion: 'Webhook "Orders": disabled, 1 held. the shop moves servers',
    remedy: expect.stringContaining(`./parley webhook enable ${shop.webhookId}`),
  })
  expect(report.stations.map(({ message }) => message)).toContain(
    'Webhook "Forms" is not subscribed to message.received.',
  )
  expect((await checkEndpoints(server.db)).details.join()).toContain(shop.webhookId)
  // Enabling it is not safe: the receiver may not be ready.
  expect(await fix(report.stations)).toEqual([])

  const [row] = await server.db.rows<{ id: string }>(
    `select id from events where workspace_id = $1 and type = 'message.received'`,
    [shop.workspace.id],
  )
  const event = await why(shop, row?.id ?? '')
  expect(event).toMatchObject({
    about: { kind: 'event' },
    conclusion: 'Webhook "Orders" is disabled, so the event is held.',
    remedy: expect.stringContaining(`./parley webhook enable ${shop.webhookId}`),
  })
  await server.db.change('update webhooks set enabled = true, disabled_at = null, senders = $2 where id = $1', [
    withoutPrefix('whk', shop.webhookId),
    [shop.connection.id],
  ])
  const filtered = await ofSender(shop)
  expect(filtered.conclusion).toBe('No webhook gets message.received of this sender.')
  expect(filtered.stations.map(({ message }) => message)).toContain('Webhook "Orders" is limited to other senders.')
})

test('a number that is not registered is named', async () => {
  const shop = await newShop()
  const number = sending.network.control.numbers.list().find((each) => each.phoneNumber === shop.account.phoneNumber)
  await graph(`${number?.id}/deregister`, shop.account.token, 'POST')
  const report = await ofSender(shop)
  expect(report.conclusion).toContain(`The number ${shop.account.phoneNumber} is not registered`)
  expect(report.remedy).toBe(`Run: ./parley sender register ${shop.account.phoneNumber} --pin -`)
  expect((await doctor('numbers')).details.join()).toContain(shop.connection.id)
})

test('a message with a paused template names the template and what to do', async () => {
  const shop = await newShop()
  const template = shop.account.addTemplate({ name: 'offer' })
  const sync = () => syncConnection(sending.network.network, shop.connection.id)
  await sync()
  const { body } = await shop.workspace.call('/v1/templates?name=offer')
  const [found] = (body as { data: { id: string }[] }).data
  // Without a subscription, no notice about the template arrives.
  await graph(`${shop.account.wabaId}/subscribed_apps`, shop.account.token, 'DELETE')
  sending.network.control.templates.setStatus(template.id, { status: 'PAUSED' })
  const sent = await shop.send({
    to: phone,
    type: 'template',
    template: { id: found?.id, variables: { 'body.1': 'Ana' } },
  })
  expect(sent).toMatchObject({ status: 202 })
  await sending.drain()
  expect(await why(shop, (sent.body as { id: string }).id)).toMatchObject({
    verdict: 'problem',
    conclusion: expect.stringContaining('WhatsApp paused the template'),
    remedy: expect.stringContaining('Wait until it is resumed'),
  })
  await sync()
  expect((await checkTemplates(server.db)).details.join()).toContain('offer (en): PAUSED')
})

test('a paused template is why a message waits, but not why one failed earlier for another reason', async () => {
  const shop = await newShop()
  const template = shop.account.addTemplate({ name: 'offer' })
  const sync = () => syncConnection(sending.network.network, shop.connection.id)
  await sync()
  const { body } = await shop.workspace.call('/v1/templates?name=offer')
  const [found] = (body as { data: { id: string }[] }).data
  const message = { type: 'template', template: { id: found?.id, variables: { 'body.1': 'Ana' } } }
  const sent = await shop.send({ to: '15550131026', ...message })
  await sending.drain()
  const waiting = await shop.send({ to: phone, ...message })
  const templateOf = async ({ body }: typeof waiting) =>
    lineOf((await why(shop, (body as { id: string }).id)).stations, 'template')?.message
  expect(await templateOf(waiting)).toBeUndefined()
  sending.network.control.templates.setStatus(template.id, { status: 'PAUSED' })
  await sync()
  expect(await templateOf(waiting)).toContain('PAUSED')
  const report = await why(shop, (sent.body as { id: string }).id)
  expect(lineOf(report.stations, 'template')).toBeUndefined()
  expect(report.stations.flatMap(({ details }) => details).join()).toContain('131026')
})

test('an old message to a person is not the cause if they have written since', async () => {
  const shop = await newShop()
  await shop.sendText(phone)
  const isFollowed = async () => (await why(shop, phone)).stations.some(({ station }) => station === 'accepted')
  await sending.drain()
  server.clock.forward({ hours: 25 })
  expect(await isFollowed()).toBe(true)
  await sending.network.control.phones.say(phone, { to: shop.account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  expect(await isFollowed()).toBe(false)
})

test('without credits, a sender cannot send', async () => {
  const shop = await newShop()
  await giveCredits(server.db, server.clock, shop.workspace.id, -100, 'test')
  const report = await ofSender(shop)
  expect(report).toMatchObject({
    conclusion: 'No credits left. Requests that send messages fail with insufficient_credits.',
    remedy: `Add credits: ./parley workspace credit ${shop.workspace.id} AMOUNT --note T`,
  })
  expect((await checkBalances(server.db, server.clock)).details.join()).toContain(shop.workspace.id)
})

test('a sent message is followed from its acceptance to each endpoint', async () => {
  const shop = await newShop()
  await sending.network.control.phones.say(phone, { to: shop.account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  const { id } = await shop.sendText(phone)
  const queued = await why(shop, id)
  expect(queued).toMatchObject({ verdict: 'waiting', conclusion: expect.stringContaining('waits for its turn') })
  server.clock.forward({ minutes: 5 })
  expect(await why(shop, id)).toMatchObject({
    verdict: 'problem',
    conclusion: expect.stringContaining('no process sends it'),
    remedy: expect.stringContaining('PARLEY_ROLE'),
  })
  await sending.drain()
  const report = await why(shop, id)
  expect(report.stations.map(({ station, verdict }) => `${verdict} ${station}`)).toEqual([
    'ok accepted',
    'ok paid',
    'ok WhatsApp',
    'ok delivered',
    'ok read',
    ...['sent', 'delivered', 'read'].flatMap(() => ['ok event', expect.stringMatching(/ delivery$/)]),
  ])
  const { wa_message_id: wamid } = await shop.look(id)
  expect((await why(shop, wamid ?? '')).about).toEqual({ kind: 'message', id })
  expect((await why(shop, phone)).about).toEqual({ kind: 'contact', id: phone })
})

test('a message without a status leads to the webhooks that do not arrive', async () => {
  const shop = await sending.newShop()
  await graph(`${shop.account.wabaId}/subscribed_apps`, shop.account.token, 'DELETE')
  const { id } = await shop.sendText(phone)
  await sending.drain()
  expect((await why(shop, id)).conclusion).toContain('WhatsApp has not sent a status yet')
  server.clock.forward({ minutes: 10 })
  const report = await why(shop, id)
  expect(lineOf(report.stations, 'status')?.verdict).toBe('warning')
  expect(report.conclusion).toContain('The app is not subscribed to account')
})

test('statuses that stopped are noticed after three messages', async () => {
  const shop = await newShop()
  const statuses = async () => lineOf((await ofSender(shop)).stations, 'statuses')
  const send = async (messages: number) => {
    for (let n = 0; n < messages; n++) await shop.sendText(phone)
    await sending.drain()
    server.clock.forward({ minutes: 6 })
  }
  await send(1)
  expect(await statuses()).toMatchObject({ verdict: 'ok', message: 'Statuses of sent messages arrive.' })
  await graph(`${shop.account.wabaId}/subscribed_apps`, shop.account.token, 'DELETE')
  await send(2)
  expect((await statuses())?.verdict).toBe('ok')
  await send(1)
  expect(await statuses()).toMatchObject({ verdict: 'warning', message: expect.stringContaining('3 messages sent') })
})

test('another workspace finds nothing', async () => {
  const shop = await newShop()
  const { id } = await shop.sendText(phone)
  const other = await newWorkspace(server)
  for (const about of [id, shop.senderId, shop.account.phoneNumber, shop.account.wabaId, phone]) {
    expect(await locate(server.db.within(other.id), other.id, about), about).toBeUndefined()
  }
})

test('in the console, a workspace sees verdicts, and an operator also URLs, IDs and what Meta says', async () => {
  const shop = await newShop()
  await sending.network.control.phones.say(phone, { to: shop.account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  const workspaceId = shop.workspace.id
  const ask = async (options: object, about: string, id = workspaceId) =>
    (await signedIn(server, { workspaceId, role: 'member', ...options })).call(`/w/${id}/why?about=${about}`)
  const { status, body } = await ask({}, shop.senderId)
  expect(status).toBe(200)
  expect(body.stations).toContainEqual(
    expect.objectContaining({ station: 'subscriptions', verdict: 'ok', details: [] }),
  )
  const text = JSON.stringify(body)
  for (const hidden of [shop.connection.appId, shop.connection.id, '/network/whatsapp', 'Orders', shop.account.token]) {
    expect(text).not.toContain(hidden)
  }
  // Other workspaces may use the app.
  expect(lineOf(body.stations, 'app')).toMatchObject({ at: null, details: [] })
  const operator = await ask({ operator: true }, shop.senderId)
  expect(lineOf(operator.body.stations, 'app')?.details.join()).toContain('last at ')
  expect(JSON.stringify(operator.body)).toContain(shop.connection.id)
  const [event] = await server.db.rows<{ id: string }>('select id from events where workspace_id = $1', [workspaceId])
  expect((await ask({}, event?.id ?? '')).status).toBe(403)
  expect(await ask({ role: 'developer' }, event?.id ?? '')).toMatchObject({
    status: 200,
    body: { about: { kind: 'event' } },
  })
  const other = await newShop()
  expect((await ask({}, other.senderId)).status).toBe(404)
  expect((await ask({}, other.account.phoneNumber)).status).toBe(404)
})

test('in the console, all who ask about an account within half a minute share what Meta said', async () => {
  const shop = await newShop()
  const workspaceId = shop.workspace.id
  const member = await signedIn(server, { workspaceId, role: 'member' })
  const ask = async () => expect((await member.call(`/w/${workspaceId}/why?about=${shop.senderId}`)).status).toBe(200)
  const calls = () => shop.account.calls('subscribed_apps')
  const before = calls()
  await Promise.all([ask(), ask(), ask()])
  server.clock.forward({ seconds: 29 })
  await ask()
  expect(calls() - before).toBe(1)
  server.clock.forward({ seconds: 1 })
  await ask()
  expect(calls() - before).toBe(2)
})

test('docs/run/nothing-arrives.md shows lines that these reports have', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/run/nothing-arrives.md'), 'utf8')
  const lines = [...page.matchAll(/^(problem|warning) +(\S.*?) {2,}(.+?)(?: \(\d{4}-.*\))?$/gm)]
  expect(lines.length).toBeGreaterThanOrEqual(10)
  const shown = lines.map(([, verdict, station, message]) => withoutNumbers(`${verdict} ${station} ${message}`))
  expect(shown.filter((line) => !said.has(line))).toEqual([])
})
