import { eventSchemas, type eventTypes } from '@parley/contract/events'
import { Check } from 'typebox/value'
import { expect, test } from 'vitest'
import { eventsOf } from '../../../../testing/network-app.ts'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'

const server = useTestServer()
const sending = useSending(server)

const person = '16505550123'

/** Posts a notice of the network about the shop's account, as its webhook. */
async function notify({ account }: TestShop, field: string, value: Record<string, unknown>) {
  sending.network.control.wabas.notify(account.wabaId, { field, value })
  await sending.network.control.idle()
}

/** The events of one type that the workspace has so far. Each must match its schema. */
async function dataOf({ workspace }: TestShop, type: (typeof eventTypes)[number]) {
  const events = (await eventsOf(server, workspace.id)).filter((event) => event.type === type)
  for (const event of events) expect(Check(eventSchemas[type], event), JSON.stringify(event)).toBe(true)
  return events.map(({ data }) => data)
}

async function sync() {
  await server.db.change('update connections set sync_due_at = $1', [server.clock.now()])
  await sending.network.drain()
}

const ban = (state: string) => ({ event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: state } })

test('sender.status_changed is published once for each change of the status, and not for a repeated notice', async () => {
  const shop = await sending.newShop()
  await notify(shop, 'account_update', ban('DISABLE'))
  await notify(shop, 'account_update', ban('DISABLE'))
  await notify(shop, 'account_update', ban('REINSTATE'))
  await notify(shop, 'account_update', ban('REINSTATE'))
  expect(await dataOf(shop, 'sender.status_changed')).toEqual([
    {
      sender_id: shop.senderId,
      status: 'BANNED',
      previous_status: 'CONNECTED',
      quality_rating: 'GREEN',
      reason: 'WhatsApp disabled the account.',
    },
    {
      sender_id: shop.senderId,
      status: 'CONNECTED',
      previous_status: 'BANNED',
      quality_rating: 'GREEN',
      reason: null,
    },
  ])
})

test('sender.status_changed is published for a change of the quality alone', async () => {
  const shop = await sending.newShop()
  const flagged = { display_phone_number: shop.account.phoneNumber, event: 'FLAGGED', current_limit: 'TIER_1K' }
  await notify(shop, 'phone_number_quality_update', flagged)
  await notify(shop, 'phone_number_quality_update', flagged)
  await notify(shop, 'phone_number_quality_update', { ...flagged, event: 'THROUGHPUT_UPGRADE' })
  expect(await dataOf(shop, 'sender.status_changed')).toEqual([
    {
      sender_id: shop.senderId,
      status: 'CONNECTED',
      previous_status: 'CONNECTED',
      quality_rating: 'RED',
      reason: 'WhatsApp flagged the number for low quality.',
    },
  ])
})

test('a sync publishes what changed since the one before, and nothing for what the first one finds', async () => {
  const shop = await sending.newShop()
  const { control } = sending.network
  expect(await eventsOf(server, shop.workspace.id)).toEqual([])
  const [number] = control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  control.numbers.change(number?.id ?? '', { qualityRating: 'YELLOW' })
  shop.account.addTemplate({ name: 'offer' })
  shop.account.addTemplate({ name: 'undecided', status: 'PENDING' })
  await sync()
  await sync()
  expect(await dataOf(shop, 'sender.status_changed')).toMatchObject([
    { status: 'CONNECTED', previous_status: 'CONNECTED', quality_rating: 'YELLOW' },
  ])
  const offer = { name: 'offer', status: 'APPROVED', previous_status: 'PENDING' }
  expect(await dataOf(shop, 'template.status_changed')).toMatchObject([offer])
  await shop.account.removeTemplate('greeting')
  await sync()
  await sync()
  // The network's notice comes first; then the template is no longer listed.
  const greeting = { template_id: expect.stringMatching(/^tpl_/), name: 'greeting', language: 'en', reason: null }
  expect((await dataOf(shop, 'template.status_changed')).slice(1)).toEqual([
    { ...greeting, status: 'PENDING_DELETION', previous_status: 'APPROVED' },
    { ...greeting, status: 'DELETED', previous_status: 'PENDING_DELETION' },
  ])
})

test('template.status_changed has the reason of a rejection, once, even if the sync finds the same', async () => {
  const shop = await sending.newShop()
  const change = (event: string, reason: string) =>
    notify(shop, 'message_template_status_update', {
      event,
      message_template_name: 'greeting',
      message_template_language: 'en',
      reason,
    })
  await change('REJECTED', 'INVALID_FORMAT')
  await change('REJECTED', 'INVALID_FORMAT')
  await change('APPROVED', 'NONE')
  await sync()
  expect(await dataOf(shop, 'template.status_changed')).toMatchObject([
    { name: 'greeting', status: 'REJECTED', previous_status: 'APPROVED', reason: 'INVALID_FORMAT' },
    { name: 'greeting', status: 'APPROVED', previous_status: 'REJECTED', reason: null },
  ])
})

test('contact.preference_changed is published for the first choice and for each other one', async () => {
  const shop = await sending.newShop()
  const [number] = sending.network.control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  const choose = (value: string, timestamp: number, who: object) =>
    notify(shop, 'user_preferences', {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: shop.account.phoneNumber, phone_number_id: number?.id },
      contacts: [{ profile: { name: 'Ana' }, ...who }],
      user_preferences: [{ ...who, category: 'marketing_messages', value, timestamp }],
    })
  const ana = { wa_id: person, user_id: 'US.ana' }
  await choose('stop', 1_731_705_721, ana)
  await choose('stop', 1_731_705_721, ana)
  await choose('stop', 1_731_705_800, ana)
  // Older than the last choice.
  await choose('resume', 1_731_705_790, ana)
  await choose('resume', 1_731_705_900, ana)
  await choose('stop', 1_731_705_721, { user_id: 'US.bea' })
  const of = (from: string | null, userId: string, marketing: string) => ({
    from,
    from_user_id: userId,
    sender_id: shop.senderId,
    marketing,
  })
  expect(await dataOf(shop, 'contact.preference_changed')).toEqual([
    of(person, 'US.ana', 'stop'),
    of(person, 'US.ana', 'resume'),
    of(null, 'US.bea', 'stop'),
  ])
})

test('the same choice in many webhooks at once is published once', async () => {
  const shop = await sending.newShop()
  const { control } = sending.network
  const [number] = control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  const value = {
    messaging_product: 'whatsapp',
    metadata: { display_phone_number: shop.account.phoneNumber, phone_number_id: number?.id },
    contacts: [{ profile: { name: 'Ana' }, wa_id: person }],
    user_preferences: [
      { wa_id: person, category: 'marketing_messages', value: 'stop', timestamp: 1_731_705_721, detail: 'x' },
    ],
  }
  for (let times = 0; times < 20; times++)
    control.wabas.notify(shop.account.wabaId, { field: 'user_preferences', value })
  await control.idle()
  expect(await dataOf(shop, 'contact.preference_changed')).toHaveLength(1)
})

test('a workspace gets no event about the account of another one', async () => {
  const [shop, other] = [await sending.newShop(), await sending.newShop()]
  await notify(shop, 'account_update', ban('DISABLE'))
  expect(await dataOf(shop, 'sender.status_changed')).toHaveLength(1)
  expect(await eventsOf(server, other.workspace.id)).toEqual([])
})
