import type { Contact, ListedContact } from '@parley/contract/console/contacts'
import { roles } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { rowsRead } from '../../../testing/rows-read.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { eraseDue } from '../privacy/erase.ts'
import { findChoices } from '../senders/preferences.ts'
import { listContacts } from './contact-list.ts'

const server = useTestServer()
const sending = useSending(server)

let people = 0

async function setUp() {
  const shop = await sending.newShop()
  const workspaceId = shop.workspace.id
  const person = await signedIn(server, { workspaceId, role: 'member' })
  const at = `/w/${workspaceId}/contacts`
  const { control } = sending.network
  const to = shop.account.phoneNumber
  const newPhone = (name: string) => {
    const phone = String(16_505_581_000 + ++people)
    control.phones.change(phone, { name })
    return phone
  }
  const say = async (phone: string, text: string) => {
    server.clock.forward({ seconds: 1 })
    await control.phones.say(phone, { to, text })
    await control.idle()
  }
  const write = async (phone: string, body: string) => {
    server.clock.forward({ seconds: 1 })
    return shop.sendText(phone, { text: { body } })
  }
  const list = async (query = '') =>
    (await person.call(`${at}${query}`)).body as {
      data: ListedContact[]
      has_more: boolean
      next_cursor: string | null
    }
  const read = (phone: string) => person.call(`${at}/${phone}/read`, { method: 'POST' })
  const unread = async () => Object.fromEntries((await list()).data.map(({ name, id, unread }) => [name ?? id, unread]))
  return { shop, workspaceId, person, at, control, newPhone, say, write, list, read, unread }
}

test('every role lists contacts by their last message, with name, number, excerpt, unread, window and opt-out', async () => {
  const { shop, workspaceId, at, newPhone, say, write } = await setUp()
  const [ana, ben, quiet] = [newPhone('Ana'), newPhone('Ben'), '16505580001']
  await say(ana, 'Is it open?')
  await say(ben, 'Hello')
  await write(quiet, 'Your code')
  await say(ana, 'And on Sunday?')
  await server.db.change(
    `insert into marketing_preferences (sender_id, person, workspace_id, marketing, changed_at) values ($1, $2, $3, 'stop', now())`,
    [shop.senderId.slice(4), ben, workspaceId],
  )
  const { received } = (await server.db.first<{ received: Date }>(
    'select max(received_at) as received from inbound_messages where workspace_id = $1 and sent_by = $2',
    [workspaceId, ana],
  )) ?? { received: new Date(0) }
  for (const role of roles) {
    const reader = await signedIn(server, { workspaceId, role })
    const { status, body } = await reader.call(at)
    expect([role, status]).toEqual([role, 200])
    expect(body).toMatchObject({
      has_more: false,
      next_cursor: null,
      data: [
        {
          id: ana,
          phone: ana,
          name: 'Ana',
          unread: 2,
          opted_out: false,
          window_expires_at: new Date(received.getTime() + 24 * 3_600_000).toISOString(),
          last_message: { direction: 'received', type: 'text', preview: 'And on Sunday?' },
        },
        { id: quiet, name: null, unread: 0, window_expires_at: null, last_message: { direction: 'sent' } },
        { id: ben, name: 'Ben', unread: 1, opted_out: true },
      ],
    })
  }
})

test('pages neither repeat nor skip a contact, also one who writes between two pages', async () => {
  const { newPhone, say, list, person, at } = await setUp()
  const phones = ['A', 'B', 'C', 'D', 'E'].map(newPhone)
  for (const phone of phones) await say(phone, 'first')
  for (const phone of phones) await say(phone, 'again')
  const first = await list('?limit=2')
  expect(first.data.map(({ name }) => name)).toEqual(['E', 'D'])
  await say(phones[2] ?? '', 'now')
  const second = await list(`?limit=2&cursor=${first.next_cursor}`)
  // C is at the top now.
  expect(second.data.map(({ name }) => name)).toEqual(['B', 'A'])
  expect(second).toMatchObject({ has_more: false, next_cursor: null })
  expect((await list()).data.map(({ name }) => name)).toEqual(['C', 'E', 'D', 'B', 'A'])
  for (const query of ['?limit=0', '?cursor=x', '?phone=1', '?q=']) {
    expect((await person.call(`${at}${query}`)).status, query).toBe(400)
  }
})

test('a conversation is unread until someone opens it or the business replies, here or elsewhere', async () => {
  const { shop, workspaceId, at, newPhone, say, write, list, read, unread, control } = await setUp()
  const [ana, ben, cleo] = [newPhone('Ana'), newPhone('Ben'), newPhone('Cleo')]
  for (const phone of [ana, ben, cleo]) await say(phone, 'hello')
  expect(await unread()).toEqual({ Ana: 1, Ben: 1, Cleo: 1 })
  // Someone else of the workspace opens it.
  const other = await signedIn(server, { workspaceId, role: 'admin' })
  const contact = async () => (await other.call(`${at}/${ana}`)).body as Contact
  expect(await contact()).toMatchObject({ unread: 1 })
  expect((await other.call(`${at}/${ana}/read`, { method: 'POST' })).status).toBe(204)
  expect(await contact()).toMatchObject({ unread: 0 })
  await write(ben, 'Hello Ben')
  const echo = { id: 'wamid.echo', from: shop.account.phoneNumber, to: cleo, type: 'text', text: { body: 'Hi' } }
  server.clock.forward({ seconds: 1 })
  const [number] = control.numbers.list().filter(({ wabaId }) => wabaId === shop.account.wabaId)
  control.wabas.notify(shop.account.wabaId, {
    field: 'smb_message_echoes',
    value: {
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: shop.account.phoneNumber, phone_number_id: number?.id },
      message_echoes: [{ ...echo, timestamp: String(Math.floor(server.clock.now().getTime() / 1000)) }],
    },
  })
  await control.idle()
  expect(await unread()).toEqual({ Ana: 0, Ben: 0, Cleo: 0 })
  expect((await list()).data[0]).toMatchObject({ name: 'Cleo', last_message: { direction: 'sent', preview: 'Hi' } })
  for (const phone of [ana, ben, cleo]) await say(phone, 'once more')
  expect(await unread()).toEqual({ Ana: 1, Ben: 1, Cleo: 1 })
  await read(ana)
  expect(await unread()).toEqual({ Ana: 0, Ben: 1, Cleo: 1 })
  server.clock.forward({ seconds: 1 })
  expect((await other.call(`${at}/read`, { method: 'POST' })).status).toBe(204)
  expect(await unread()).toEqual({ Ana: 0, Ben: 0, Cleo: 0 })
  await say(ben, 'still there?')
  expect(await unread()).toEqual({ Ana: 0, Ben: 1, Cleo: 0 })
})

test('a search finds names, parts of numbers and words of messages in both directions', async () => {
  const { workspaceId, newPhone, say, write, list, person } = await setUp()
  const [ana, ben] = [newPhone('Ana María'), newPhone('Ben')]
  await say(ana, 'hello')
  await say(ben, 'Where is my blue bicycle?')
  await write(ana, 'Your invoice is ready')
  const found = async (q: string) => (await list(`?q=${encodeURIComponent(q)}`)).data.map(({ id }) => id)
  expect(await found('maria')).toEqual([ana])
  expect(await found(ana.slice(-6))).toEqual([ana])
  expect((await found('16505')).sort()).toEqual([ana, ben].sort())
  expect(await found('bicycle blue')).toEqual([ben])
  expect(await found('invoice')).toEqual([ana])
  expect(await found('nothing such')).toEqual([])
  const { data } = await list('?q=bicyc')
  expect(data[0]).toMatchObject({ name: 'Ben', match: { excerpt: 'Where is my blue bicycle?' } })
  const { body } = await person.call(`/w/${workspaceId}/messages/${data[0]?.match?.message_id}`)
  expect(body).toMatchObject({ preview: 'Where is my blue bicycle?' })
})

test('the name under which the business saved a contact is shown instead of the profile name', async () => {
  const { shop, workspaceId, newPhone, say, list } = await setUp()
  const ana = newPhone('A.')
  await say(ana, 'hello')
  await server.db.change(
    'insert into saved_contacts (sender_id, person, workspace_id, name, changed_at) values ($1, $2, $3, $4, now())',
    [shop.senderId.slice(4), ana, workspaceId, 'Ana of the bakery'],
  )
  expect((await list()).data).toMatchObject([{ name: 'Ana of the bakery' }])
})

test('a contact without a number is named by their user ID', async () => {
  const { newPhone, say, list, read, unread, control } = await setUp()
  const ana = newPhone('Ana')
  control.phones.change(ana, { username: 'ana', switches: { senderIdentity: 'user_id_only' } })
  await say(ana, 'hello')
  const { userId } = control.phones.get(ana)
  expect((await list()).data).toMatchObject([
    { id: userId, phone: null, user_id: userId, username: 'ana', name: 'Ana', unread: 1 },
  ])
  server.clock.forward({ seconds: 1 })
  expect((await read(String(userId))).status).toBe(204)
  expect(await unread()).toEqual({ Ana: 0 })
})

test('an opt-out with number and user ID is listed after messages that have only the user ID', async () => {
  const { shop, workspaceId, at, newPhone, say, list, person, control } = await setUp()
  const ana = newPhone('Ana')
  control.phones.change(ana, { username: 'ana', switches: { senderIdentity: 'user_id_only' } })
  await say(ana, 'hello')
  const { userId } = control.phones.get(ana)
  await server.db.change(
    `insert into marketing_preferences (sender_id, person, user_id, workspace_id, marketing, changed_at)
     values ($1, $2, $3, $4, 'stop', now())`,
    [shop.senderId.slice(4), ana, userId, workspaceId],
  )
  expect((await list()).data).toMatchObject([{ id: userId, opted_out: true }])
  const contact = (await person.call(`${at}/${userId}`)).body as Contact
  expect(contact.senders).toMatchObject([{ marketing: { choice: 'stop' } }])
})

test('the choice of a person is found by their user ID, however many people made one', async () => {
  const { shop, workspaceId } = await setUp()
  const senderId = shop.senderId.slice(4)
  await server.db.change(
    `insert into marketing_preferences (sender_id, person, user_id, workspace_id, marketing, changed_at)
     select $1, n::text, 'US.' || n, $2, 'stop', now() from generate_series(1, 5000) as n`,
    [senderId, workspaceId],
  )
  await server.db.rows('analyze marketing_preferences')
  const people = [1, 2, 3].map((n) => ({ workspaceId, senderId, personIds: [`US.${n}`] }))
  const read = await rowsRead(server.db, 'marketing_preferences', async (tx) => {
    expect(await findChoices(tx, people)).toMatchObject(people.map(() => ({ marketing: 'stop' })))
  })
  expect(read).toBeLessThan(10)
})

test('contacts of another workspace are neither listed, found nor marked as read', async () => {
  const one = await setUp()
  const ana = one.newPhone('Ana')
  await one.say(ana, 'secret plan')
  const other = await setUp()
  expect((await other.list()).data).toEqual([])
  for (const q of ['Ana', ana, 'secret']) expect((await other.list(`?q=${q}`)).data).toEqual([])
  expect((await other.read(ana)).status).toBe(404)
  for (const path of ['', '?q=secret', `/${ana}/read`, '/read']) {
    const { status } = await other.person.call(`${one.at}${path}`, path.endsWith('read') ? { method: 'POST' } : {})
    expect([path, status]).toEqual([path, 404])
  }
  server.clock.forward({ seconds: 1 })
  await other.person.call(`${other.at}/read`, { method: 'POST' })
  expect(await one.unread()).toEqual({ Ana: 1 })
  expect((await fetch(`${server.url}/console/api${one.at}`)).status).toBe(401)
})

test('an erased contact is no longer listed, and nothing says when they were read', async () => {
  const { workspaceId, newPhone, say, list, read } = await setUp()
  const admin = await signedIn(server, { workspaceId, role: 'admin' })
  const ana = newPhone('Ana')
  await say(ana, 'hello')
  await read(ana)
  const reads = () => server.db.rows('select person from contact_reads where workspace_id = $1', [workspaceId])
  // By number and by user ID.
  expect(await reads()).toHaveLength(2)
  const exported = await admin.call(`/w/${workspaceId}/contact.json?phone=${ana}`)
  const [first, ...others] = exported.body.contact_reads
  expect([first, others.length]).toEqual([{ person: ana, read_at: server.clock.now().toISOString() }, 1])
  await admin.call(`/w/${workspaceId}/erasures`, { method: 'POST', body: { phone: ana } })
  server.clock.forward({ seconds: 6 })
  await eraseDue(server.db, server.clock, newLogger('silent'))
  expect((await list()).data).toEqual([])
  expect(await reads()).toEqual([])
})

test('a page reads the newest messages only, and a chatty contact does not hide the others', async () => {
  const { shop, workspaceId, newPhone, say, list } = await setUp()
  const ana = newPhone('Ana')
  await say(ana, 'long ago')
  // More than a page reads: 12,000 messages of one person.
  await server.db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content)
     select gen_random_uuid(), $1, $2, 'wamid.' || $3 || n, $3, 'text', at, at, '{}'
     from generate_series(1, 12000) as n, lateral (select $4::timestamptz + n * interval '1 ms' as at) as each`,
    [workspaceId, shop.senderId.slice(4), '16505580002', server.clock.now()],
  )
  const first = await list('?limit=10')
  expect(first).toMatchObject({ data: [{ id: '16505580002', unread: 100 }], has_more: true })
  const second = await list(`?limit=10&cursor=${first.next_cursor}`)
  expect(second).toMatchObject({ data: [{ name: 'Ana' }], has_more: false })
  const page = { take: 1, order: 'desc', after: null } as const
  const read = rowsRead(server.db.within(workspaceId), 'inbound_messages', (tx) => listContacts(tx, workspaceId, page))
  expect(await read).toBeLessThan(12_000)
})
