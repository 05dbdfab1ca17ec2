import type { ListedMessage, MessageDetail } from '@parley/contract/console/messages'
import { expect, test } from 'vitest'
import { type SignedInPerson, signedIn } from '../../../../testing/console.ts'
import { eventsOf, newApp, newSender, text, webhookOf } from '../../../../testing/network-app.ts'
import { passSteadyDays } from '../../../../testing/pass-days.ts'
import { useSending } from '../../../../testing/sending.ts'
import { serveApi, useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { moveLimits, moveOlderMessages, recentDays } from './older-messages.ts'

const server = useTestServer()
const sending = useSending(server)
const quiet = newLogger('silent')

/** Moves whatever is old, however small the tables are. */
const anySize = { ...moveLimits, recentBytes: 0 }
const move = (limits = anySize, db = server.db) => moveOlderMessages(db, server.clock, quiet, limits)

/** The first run adds the table, if there is none that is not full. */
async function moveAll(limits = anySize): Promise<number> {
  await move(limits)
  return move(limits)
}

const passDays = (days: number) => passSteadyDays(server, days)

/** Calls the console; signs in again when days have passed, because sessions expire. */
function newReader(workspaceId: string) {
  let signedInAt = 0
  let person: Promise<SignedInPerson>
  return async (path: string) => {
    const now = server.clock.now().getTime()
    if (now - signedInAt > 3_600_000) person = signedIn(server, { workspaceId, role: 'developer' })
    signedInAt = now
    const { status, body } = await (await person).call(`/w/${workspaceId}/${path}`)
    expect(status, JSON.stringify(body)).toBe(200)
    return body
  }
}

async function newNumber() {
  await passDays(2)
  // So that there is a table of older messages, which the first run adds.
  await move()
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const read = newReader(workspace.id)
  return {
    workspace,
    read,
    async post(ids: readonly string[], { url = server.url, sentAt = server.clock.now() } = {}) {
      const timestamp = String(Math.trunc(sentAt.getTime() / 1000))
      const messages = ids.map((id) => ({ ...text(id, id), timestamp }))
      expect(await app.post(webhookOf(sender.phoneNumberId, messages), { url })).toBe(200)
    },
    async postOrder(id: string) {
      const order = {
        catalog_id: '1',
        product_items: [{ product_retailer_id: 'A', quantity: 1, item_price: 1, currency: 'EUR' }],
      }
      const timestamp = String(Math.trunc(server.clock.now().getTime() / 1000))
      const message = { from: '16505550123', id, timestamp, type: 'order', order }
      expect(await app.post(webhookOf(sender.phoneNumberId, [message]))).toBe(200)
    },
    /** The WhatsApp IDs of all listed messages, page by page. */
    async listed(query = 'limit=3'): Promise<string[]> {
      const found: string[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const body = await read(`messages?${query}${cursor && `&cursor=${cursor}`}`)
        found.push(...body.data.map(({ preview }: ListedMessage) => preview ?? ''))
        cursor = body.next_cursor
      }
      return found
    },
    search: async (q: string) => (await read(`messages?q=${encodeURIComponent(q)}`)).data as ListedMessage[],
    timeline: async (id: string) => (await read(`messages/${id}`)) as MessageDetail,
    received: async () =>
      (await eventsOf(server, workspace.id)).map(({ data }) => String(data.wa_message_id)).toSorted(),
    /** The IDs in the table that new messages are checked against. */
    recent: async () =>
      (
        await server.db.rows<{ id: string }>(
          'select wa_message_id as id from only inbound_messages where workspace_id = $1 order by 1',
          [workspace.id],
        )
      ).map(({ id }) => id),
  }
}

test('messages that can no longer be repeated leave the table of recent ones, and are listed and found as before', async () => {
  const { listed, post, recent, search, timeline, workspace } = await newNumber()
  await post(['wamid.1', 'wamid.2'])
  server.clock.forward({ seconds: 1 })
  await post(['wamid.3', 'wamid.4'])
  await passDays(recentDays + 1)
  await post(['wamid.5'])
  const before = await listed()
  expect(before).toHaveLength(5)
  await moveAll({ ...anySize, batch: 1 })

  expect(await recent()).toEqual(['wamid.5'])
  expect(await listed()).toEqual(before)
  expect(await listed('limit=2&phone=%2B16505550123')).toEqual(before)
  const [old] = await search('wamid.1')
  expect(old).toMatchObject({ preview: 'wamid.1', direction: 'received' })
  expect(await timeline(old?.id ?? '')).toMatchObject({ id: old?.id, wa_message_id: 'wamid.1' })
  const other = await newWorkspace(server)
  expect(await server.db.within(other.id).rows('select 1 from inbound_messages')).toEqual([])
  expect(await server.db.within(workspace.id).rows('select 1 from inbound_messages')).toHaveLength(5)
  await expect(server.db.rows('select 1 from inbound_messages_older_1')).rejects.toThrow('permission denied')
})

test('a repeated webhook is ignored for as long as the network repeats it, while older messages are moved', async () => {
  const { listed, post, received } = await newNumber()
  const second = await serveApi(server, quiet)
  await post(['wamid.old'])
  await passDays(recentDays)
  // In both processes at once.
  await Promise.all([
    post(['wamid.A', 'wamid.B']),
    post(['wamid.B', 'wamid.A'], { url: second.url }),
    post(['wamid.A']),
  ])
  // Just before and after midnight, and on each of the days after.
  for (let day = 0; day <= 8; day++) {
    const [, first] = await Promise.all([
      move(),
      move(anySize, second.db),
      post(['wamid.B', 'wamid.A'], { url: second.url }),
    ])
    expect(first).toBeTypeOf('number')
    await post(['wamid.A'])
    await passDays(1)
  }
  await post(['wamid.A', 'wamid.B'])
  expect(await received()).toEqual(['wamid.A', 'wamid.B', 'wamid.old'])
  expect((await listed()).toSorted()).toEqual(['wamid.A', 'wamid.B', 'wamid.old'])
  await second.close()
})

test('a webhook that is sent again long after its message was moved is ignored, and a message that comes late is stored', async () => {
  const { listed, post, recent, received } = await newNumber()
  const sentAt = server.clock.now()
  await post(['wamid.M1', 'wamid.M2'], { sentAt })
  await passDays(recentDays + 2)
  await moveAll()
  expect(await recent()).toEqual([])
  await post(['wamid.M1'], { sentAt })
  // In one webhook with a message that was sent as long ago and is new.
  await Promise.all([post(['wamid.M2', 'wamid.late'], { sentAt }), post(['wamid.late', 'wamid.M1'], { sentAt })])
  expect((await listed()).toSorted()).toEqual(['wamid.M1', 'wamid.M2', 'wamid.late'])
  expect(await received()).toContain('wamid.late')
  expect(await recent()).toEqual(['wamid.late'])
})

test('an order and its message are found after the message was moved', async () => {
  const { postOrder, read, recent, timeline } = await newNumber()
  await postOrder('wamid.order')
  await passDays(recentDays + 1)
  await moveAll()
  expect(await recent()).toEqual([])
  const [order] = (await read('orders')).data as { message_id: string }[]
  expect(await timeline(order?.message_id ?? '')).toMatchObject({ wa_message_id: 'wamid.order' })
})

test('a reader sees each message once while messages are moved', async () => {
  const { listed, post, recent } = await newNumber()
  const ids = Array.from({ length: 40 }, (_, index) => `wamid.${index}`)
  await post(ids)
  await passDays(recentDays + 1)
  expect(await listed('limit=100')).toHaveLength(ids.length)
  for (let step = 0; step < ids.length; step++) {
    const [moved, found] = await Promise.all([move({ ...anySize, batch: 1, batches: 1 }), listed('limit=100')])
    expect(moved).toBe(1)
    expect(found.toSorted()).toEqual(ids.toSorted())
  }
  expect(await recent()).toEqual([])
})

test('a reply refers to a message that was moved, by either ID', async () => {
  await passDays(2)
  const shop = await sending.newShop()
  const { control } = sending.network
  const phone = '16505550142'
  const read = newReader(shop.workspace.id)
  await control.phones.say(phone, { to: shop.account.phoneNumber, text: 'the old one' })
  await control.idle()
  await passDays(recentDays + 1)
  await moveAll()
  const [old] = (await read('messages?direction=received')).data as ListedMessage[]
  const { wa_message_id } = (await read(`messages/${old?.id}`)) as MessageDetail
  // A new message, because a reply without a template is only possible within 24 hours.
  await control.phones.say(phone, { to: shop.account.phoneNumber, text: 'again' })
  await control.idle()
  for (const id of [old?.id, wa_message_id]) {
    const reply = await shop.send({ to: phone, type: 'text', text: { body: 're' }, in_reply_to: id })
    expect(reply.status, JSON.stringify(reply.body)).toBe(202)
  }
  await sending.drain()
  const detail = (await read(`messages/${old?.id}`)) as MessageDetail
  expect(detail.replies).toHaveLength(2)
})

test('nothing is moved for a day after the clock of the database jumped, and a small table is left as it is', async () => {
  const { post, recent } = await newNumber()
  await post(['wamid.J'])
  await move()
  await server.passDays(recentDays + 1)
  expect(await move()).toBe(0)
  // The same webhook again: if the clock was wrong, little time has passed.
  await post(['wamid.J'])
  expect(await recent()).toEqual(['wamid.J'])
  await passDays(2)
  expect(await move(moveLimits)).toBe(0)
  expect(await recent()).toEqual(['wamid.J'])
  await moveAll()
  expect(await recent()).toEqual([])
})

test('a table of older messages that is full is followed by another', async () => {
  const { listed, post } = await newNumber()
  const tables = async () =>
    (await server.db.rows(`select 1 from pg_inherits where inhparent = 'inbound_messages'::regclass`)).length
  await post(['wamid.T1'])
  await passDays(recentDays + 1)
  await moveAll()
  const before = await tables()
  await post(['wamid.T2'])
  await passDays(recentDays + 1)
  const full = { ...anySize, olderBytes: 1 }
  // In several processes at once, only one adds a table.
  const moved = await Promise.all([move(full), move(full), move(full)])
  expect(await tables()).toBe(before + 1)
  // A process that is later than the one that adds the table finds it, and moves the message.
  expect([...moved, await move()].toSorted()).toEqual([0, 0, 0, 1])
  expect(await listed()).toEqual(['wamid.T2', 'wamid.T1'])
})
