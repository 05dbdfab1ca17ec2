import type { ConsoleSender } from '@parley/contract/console/senders'
import type { Sender } from '@parley/contract/sender'
import { expect, test } from 'vitest'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { readWebhook } from '../../../whatsapp/incoming/incoming.ts'
import type { Notice } from '../../../whatsapp/incoming/notice-effect.ts'
import { applyAccountNotice } from '../../connections/notices.ts'
import { readBalance } from '../../credits/credits.ts'
import { listForConsole } from '../../senders/console.ts'
import { releaseParked } from './release-parked.ts'

const server = useTestServer()
const sending = useSending(server)

const to = '16505550123'

/** Posts a notice of the network about the shop's account, as its webhook. */
async function notify({ account }: TestShop, field: string, value: Record<string, unknown>) {
  sending.network.control.wabas.notify(account.wabaId, { field, value })
  await sending.network.control.idle()
}

const senderOf = async ({ workspace }: TestShop) =>
  ((await workspace.call('/v1/senders')).body as { data: Sender[] }).data[0] as Sender

const inConsole = async ({ workspace }: TestShop) => (await listForConsole(server.db, workspace.id))[0] as ConsoleSender

const textTo = (recipient: string) => ({ to: recipient, type: 'text', text: { body: 'hi' } })

const ban = (state: string) => ({
  event: 'DISABLED_UPDATE',
  ban_info: { waba_ban_state: state, waba_ban_date: 'April 17, 2025' },
})

test('a ban changes the account and its senders at once, with the reason, and a reinstatement ends it', async () => {
  const shop = await sending.newShop()
  server.clock.forward({ minutes: 5 })
  await notify(shop, 'account_update', ban('DISABLE'))
  expect(await senderOf(shop)).toMatchObject({ status: 'BANNED' })
  const reason = 'WhatsApp disabled the account on April 17, 2025.'
  expect(await inConsole(shop)).toMatchObject({
    status: 'BANNED',
    status_reason: reason,
    connection: { status: 'BANNED', status_reason: reason, status_until: null },
  })
  expect(await shop.send(textTo(to))).toMatchObject({
    status: 400,
    body: { error: { errors: [{ param: 'sender_id', code: 'not_connected' }] } },
  })
  await notify(shop, 'account_update', ban('REINSTATE'))
  expect(await inConsole(shop)).toMatchObject({
    status: 'CONNECTED',
    status_reason: null,
    connection: { status: 'ACTIVE', status_reason: null },
  })
  expect(await shop.send(textTo(to))).toMatchObject({ status: 202 })
})

test('the sync that follows a notice fetches the state of the numbers', async () => {
  const shop = await sending.newShop()
  server.clock.forward({ minutes: 5 })
  await notify(shop, 'account_update', { event: 'ACCOUNT_OFFBOARDED' })
  expect(await inConsole(shop)).toMatchObject({ status: 'DISCONNECTED', connection: { status: 'DISCONNECTED' } })
  const callsBefore = shop.account.calls('phone_numbers')
  server.clock.forward({ seconds: 10 })
  await sending.network.drain()
  expect(shop.account.calls('phone_numbers')).toBe(callsBefore + 1)
  expect(await inConsole(shop)).toMatchObject({ status: 'CONNECTED', status_reason: null })
})

test('a restriction ends at its time', async () => {
  const shop = await sending.newShop()
  const until = new Date(Math.trunc(server.clock.now().getTime() / 1000) * 1000 + 3_600_000)
  await notify(shop, 'account_update', {
    event: 'ACCOUNT_RESTRICTION',
    restriction_info: [
      { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: until.getTime() / 1000 },
      { restriction_type: 'RESTRICTED_ADD_PHONE_NUMBER_ACTION', expiration: until.getTime() / 1000 + 60 },
    ],
  })
  expect(await inConsole(shop)).toMatchObject({
    status: 'RESTRICTED',
    connection: {
      status: 'RESTRICTED',
      status_reason: 'WhatsApp restricted the account: RESTRICTED_BIZ_INITIATED_MESSAGING.',
      status_until: until.toISOString(),
    },
  })
  server.clock.forward({ hours: 1, minutes: 1 })
  await sending.network.drain()
  expect(await inConsole(shop)).toMatchObject({
    status: 'CONNECTED',
    connection: { status: 'ACTIVE', status_reason: null, status_until: null },
  })
})

test('warnings are shown and do not stop sending, and do not hide a ban', async () => {
  const shop = await sending.newShop()
  await notify(shop, 'account_update', { event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'ADULT' } })
  expect(await inConsole(shop)).toMatchObject({
    status: 'CONNECTED',
    connection: { status: 'FLAGGED', status_reason: 'WhatsApp reports a policy violation: ADULT.' },
  })
  expect(await shop.send(textTo(to))).toMatchObject({ status: 202 })
  await notify(shop, 'account_update', ban('DISABLE'))
  const alert = { alert_severity: 'CRITICAL', alert_type: 'OBA_REJECTED', alert_description: 'Check your account.' }
  await notify(shop, 'account_alerts', { entity_type: 'WABA', alert_info: alert })
  expect((await inConsole(shop)).connection).toMatchObject({ status: 'BANNED' })
  const other = await sending.newShop()
  await notify(other, 'account_alerts', { entity_type: 'WABA', alert_info: alert })
  expect((await inConsole(other)).connection).toMatchObject({
    status: 'FLAGGED',
    status_reason: 'Alert from WhatsApp: Check your account.',
  })
})

test('notices about a number change its quality, its name and its throughput', async () => {
  const shop = await sending.newShop()
  const number = { display_phone_number: shop.account.phoneNumber }
  await notify(shop, 'phone_number_quality_update', { ...number, event: 'FLAGGED', current_limit: 'TIER_1K' })
  expect(await inConsole(shop)).toMatchObject({
    status: 'CONNECTED',
    quality_rating: 'RED',
    status_reason: 'WhatsApp flagged the number for low quality.',
  })
  await notify(shop, 'phone_number_quality_update', { ...number, event: 'THROUGHPUT_UPGRADE' })
  expect(await inConsole(shop)).toMatchObject({ throughput: 'HIGH', status_reason: null })
  const name = { ...number, requested_verified_name: 'Harbour Clinic' }
  await notify(shop, 'phone_number_name_update', { ...name, decision: 'APPROVED' })
  expect(await senderOf(shop)).toMatchObject({ display_name: 'Harbour Clinic' })
  await notify(shop, 'phone_number_name_update', { ...name, decision: 'REJECTED', rejection_reason: 'NAME_NOT_OK' })
  expect(await inConsole(shop)).toMatchObject({
    status_reason: 'WhatsApp rejected the display name “Harbour Clinic”: NAME_NOT_OK.',
  })
})

test('a notice changes only the account it is about', async () => {
  const [shop, other] = [await sending.newShop(), await sending.newShop()]
  await notify(shop, 'account_update', ban('DISABLE'))
  await notify(shop, 'phone_number_quality_update', { display_phone_number: '19990000000', event: 'FLAGGED' })
  expect(await senderOf(shop)).toMatchObject({ status: 'BANNED', quality_rating: 'GREEN' })
  expect(await inConsole(other)).toMatchObject({ status: 'CONNECTED', connection: { status: 'ACTIVE' } })
})

/** A shop whose account has two numbers, and their rows in the console by number. */
async function newShopWithTwoNumbers() {
  const shop = await sending.newShop()
  const first = shop.account.phoneNumber
  const second = `${first}2`
  sending.network.control.numbers.create({ wabaId: shop.account.wabaId, phoneNumber: second, verifiedName: 'Second' })
  await server.db.change('update connections set sync_due_at = $1', [server.clock.now()])
  await sending.network.drain()
  const idOf = (phoneNumber: string) =>
    sending.network.control.numbers.list().find((each) => each.phoneNumber === phoneNumber)?.id
  const rows = async () => {
    const senders = await listForConsole(server.db, shop.workspace.id)
    return [first, second].map((number) => senders.find(({ phone_number }) => phone_number === number))
  }
  return { shop, second, idOf, rows }
}

test('PARTNER_REMOVED with a phone number disconnects only that number, and ACCOUNT_RECONNECTED ends it', async () => {
  const { shop, second, rows } = await newShopWithTwoNumbers()
  const removed = { event: 'PARTNER_REMOVED', disconnection_info: { reason: 'CHANGE_NUMBER', initiated_by: 'USER' } }
  await notify(shop, 'account_update', { ...removed, phone_number: `+${second}` })
  expect(await rows()).toMatchObject([
    { status: 'CONNECTED', status_reason: null, connection: { status: 'ACTIVE' } },
    { status: 'DISCONNECTED', status_reason: 'The number was disconnected from this app.' },
  ])
  await notify(shop, 'account_update', { event: 'ACCOUNT_RECONNECTED' })
  expect(await rows()).toMatchObject([{ status: 'CONNECTED' }, { status: 'CONNECTED', status_reason: null }])
  const late = { field: 'account_update', value: { ...removed, phone_number: second } }
  const entry = { id: shop.account.wabaId, time: 1_700_000_000, changes: [late] }
  const [item] = readWebhook({ object: 'whatsapp_business_account', entry: [entry] }, server.clock.now())
  await applyAccountNotice(server.db, server.clock, shop.connection.appId, item as Notice)
  expect(await rows()).toMatchObject([{ status: 'CONNECTED' }, { status: 'CONNECTED' }])
})

test('an account notice with a number that is not known changes no number', async () => {
  const { shop, rows } = await newShopWithTwoNumbers()
  await notify(shop, 'account_update', { event: 'PARTNER_REMOVED', phone_number: '19990000000' })
  const connected = { status: 'CONNECTED', connection: { status: 'ACTIVE' } }
  expect(await rows()).toMatchObject([connected, connected])
})

test('an alert about one number is shown with that number only', async () => {
  const { shop, second, idOf, rows } = await newShopWithTwoNumbers()
  const alert = { alert_severity: 'WARNING', alert_type: 'PROFILE_PICTURE_LOST', alert_description: 'No picture.' }
  await notify(shop, 'account_alerts', { entity_type: 'PHONE_NUMBER', entity_id: idOf(second), alert_info: alert })
  expect(await rows()).toMatchObject([
    { status_reason: null, connection: { status: 'ACTIVE' } },
    { status: 'CONNECTED', status_reason: 'Alert from WhatsApp: No picture.' },
  ])
})

test.each([
  ['phone_number_name_update', { decision: 'APPROVED', requested_verified_name: 'Harbour' }],
  ['phone_number_name_update', { decision: 'REJECTED', requested_verified_name: 'Harbour' }],
  ['phone_number_quality_update', { event: 'FLAGGED' }],
  ['phone_number_quality_update', { event: 'UNFLAGGED' }],
])('ACCOUNT_RECONNECTED connects a number again after %s %j', async (field, value) => {
  const shop = await sending.newShop()
  await notify(shop, 'account_update', { event: 'ACCOUNT_OFFBOARDED' })
  await notify(shop, field, { ...value, display_phone_number: shop.account.phoneNumber })
  expect(await inConsole(shop)).toMatchObject({
    status: 'DISCONNECTED',
    status_reason: 'The account was disconnected from this app.',
  })
  await notify(shop, 'account_update', { event: 'ACCOUNT_RECONNECTED' })
  expect(await inConsole(shop)).toMatchObject({ status: 'CONNECTED', status_reason: null })
})

test('a sync that lists a disconnected number with another quality does not keep it from being reconnected', async () => {
  const shop = await sending.newShop()
  server.clock.forward({ minutes: 5 })
  await notify(shop, 'account_update', { event: 'ACCOUNT_OFFBOARDED' })
  const [number] = sending.network.control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  sending.network.control.numbers.change(number?.id ?? '', { status: 'DISCONNECTED', qualityRating: 'UNKNOWN' })
  server.clock.forward({ seconds: 10 })
  await sending.network.drain()
  expect(await inConsole(shop)).toMatchObject({ status: 'DISCONNECTED', quality_rating: 'UNKNOWN' })
  await notify(shop, 'account_update', { event: 'ACCOUNT_RECONNECTED' })
  expect(await inConsole(shop)).toMatchObject({ status: 'CONNECTED', status_reason: null })
})

const offer = { type: 'template', template: { name: 'offer', language: 'en', variables: { 'body.1': 'Ana' } } }

async function newShopWithOffer() {
  const shop = await sending.newShop(5)
  shop.account.addTemplate({ name: 'offer', category: 'MARKETING' })
  await server.db.change('update connections set sync_due_at = $1', [server.clock.now()])
  await sending.network.drain()
  const [number] = sending.network.control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  const choose = (
    value: string,
    timestamp: number,
    person: object = { wa_id: to },
    phoneNumberId = number?.id,
    before: string[] = [],
  ) =>
    notify(shop, 'user_preferences', {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: shop.account.phoneNumber, phone_number_id: phoneNumberId },
      contacts: [{ profile: { name: 'Ana' }, ...person }],
      user_preferences: [...before, value].map((each) => ({
        ...person,
        category: 'marketing_messages',
        value: each,
        timestamp,
        detail: 'x',
      })),
    })
  return { shop, choose }
}

test('a marketing template to a person who opted out is refused before anything is spent', async () => {
  const { shop, choose } = await newShopWithOffer()
  await choose('stop', 1_731_705_721)
  expect(await shop.send({ to: `+${to}`, ...offer })).toMatchObject({
    status: 400,
    body: { error: { code: 'recipient_opted_out', details: { opted_out_at: '2024-11-15T21:22:01.000Z' } } },
  })
  expect(await readBalance(server.db, shop.workspace.id)).toBe(5)
  const greeting = { ...offer, template: { ...offer.template, name: 'greeting' } }
  for (const body of [{ to, ...greeting }, textTo(to), { to: '16505550124', ...offer }]) {
    expect((await shop.send(body)).status).toBe(202)
  }
  // An older preference that arrives late changes nothing.
  await choose('resume', 1_731_705_000)
  expect((await shop.send({ to, ...offer })).status).toBe(400)
  await choose('resume', 1_731_705_800)
  expect((await shop.send({ to, ...offer })).status).toBe(202)
})

test('an opt-out applies to one number', async () => {
  const [first, second] = [await newShopWithOffer(), await newShopWithOffer()]
  await first.choose('stop', 1_731_705_721)
  expect((await second.shop.send({ to, ...offer })).status).toBe(202)
  expect((await first.shop.send({ to, ...offer })).status).toBe(400)
})

test('an opt-out for a number that is not synced yet is kept and applies once the number is synced', async () => {
  const { shop, choose } = await newShopWithOffer()
  server.clock.forward({ minutes: 5 })
  const added = sending.network.control.numbers.create({
    wabaId: shop.account.wabaId,
    phoneNumber: '15553300001',
    verifiedName: 'Second',
  })
  await choose('stop', 1_731_705_721, { wa_id: to }, added.id)
  // An older choice in a later webhook does not replace it.
  await choose('resume', 1_731_705_000, { wa_id: to }, added.id)
  const callsBefore = shop.account.calls('phone_numbers')
  await sending.network.drain()
  expect(shop.account.calls('phone_numbers')).toBe(callsBefore + 1)
  expect(await releaseParked({ ...server, log: newLogger('silent'), publicUrl: 'http://parley.test' })).toBe(2)
  const { body } = await shop.workspace.call('/v1/senders')
  const second = (body as { data: Sender[] }).data.find(({ phone_number }) => phone_number === '15553300001')
  expect(await shop.send({ to, ...offer, sender_id: second?.id })).toMatchObject({
    status: 400,
    body: { error: { code: 'recipient_opted_out', details: { opted_out_at: '2024-11-15T21:22:01.000Z' } } },
  })
  expect((await shop.send({ to, ...offer, sender_id: shop.senderId })).status).toBe(202)
})

test.each([
  ['in one webhook', [['resume', 'stop']]],
  ['in one webhook, the other way round', [['stop', 'resume']]],
  ['in two webhooks', [['resume'], ['stop']]],
  ['in two webhooks, the other way round', [['stop'], ['resume']]],
])('of two choices in the same second, %s, the stop counts', async (_, webhooks) => {
  const { shop, choose } = await newShopWithOffer()
  for (const values of webhooks) {
    await choose(values.at(-1) ?? '', 1_731_705_721, { wa_id: to }, undefined, values.slice(0, -1))
  }
  expect((await shop.send({ to, ...offer })).status).toBe(400)
  await choose('resume', 1_731_705_722)
  expect((await shop.send({ to, ...offer })).status).toBe(202)
})

test('an opt-out follows the person when the network replaces their user ID', async () => {
  const { shop, choose } = await newShopWithOffer()
  const { control } = sending.network
  const phone = '16505550177'
  control.phones.change(phone, { username: 'ana.opt.out', switches: { senderIdentity: 'user_id_only' } })
  await control.phones.say(phone, { to: shop.account.phoneNumber, text: 'hello' })
  await control.idle()
  const { userId: first } = control.phones.get(phone)
  await choose('stop', 1_731_705_721, { user_id: first })
  expect((await shop.send({ to_user_id: first, ...offer })).status).toBe(400)
  for (const userId of ['US.opted2', 'US.opted3']) {
    await control.phones.changeUserId(phone, { userId })
    await control.idle()
  }
  for (const userId of [first, 'US.opted2', 'US.opted3']) {
    expect(await shop.send({ to_user_id: userId, ...offer })).toMatchObject({
      status: 400,
      body: { error: { code: 'recipient_opted_out' } },
    })
  }
  expect((await shop.send({ to_user_id: 'US.other', ...offer })).status).toBe(202)
  await choose('resume', 1_731_705_900, { user_id: 'US.opted3' })
  expect((await shop.send({ to_user_id: first, ...offer })).status).toBe(202)
})
