import { randomBytes } from 'node:crypto'
import type { ListedMessage, MessageDetail } from '@parley/contract/console/messages'
import type { FlowResponse } from '@parley/contract/flow-response'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { expectRefusal } from '../../../testing/expect-error.ts'
import { fileOf, useForms } from '../../../testing/forms.ts'
import { newApp, newSender, text, webhookOf } from '../../../testing/network-app.ts'
import { passSteadyDays } from '../../../testing/pass-days.ts'
import { rowsRead } from '../../../testing/rows-read.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { mayDeleteOld } from '../../db/retention.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { maintenanceSteps } from '../../work.ts'
import { moveLimits, moveOlderMessages } from '../messages/receiving/older-messages.ts'
import { removalLimits, removeOldContents } from './content-retention.ts'

const days = 7
const server = useTestServer({ env: { PARLEY_CONTENT_RETENTION_DAYS: String(days) } })
const forms = useForms(server)
const quiet = newLogger('silent')

let people = 0
const newPhone = () => String(16_505_590_000 + ++people)

const passDays = (days: number) => passSteadyDays(server, days)

/** Runs a step of maintenance as a process does. */
const runStep = () =>
  maintenanceSteps(server.runtime)
    .find(({ name }) => name === 'retention')
    ?.run(server.db)

/** Everything that is stored about a workspace's messages, as text. */
async function storedText(workspaceId: string): Promise<string> {
  const rows = await server.db.rows<{ text: string }>(
    `select m::text as text from messages m where workspace_id = $1
     union all select m::text from inbound_messages m where workspace_id = $1
     union all select r::text from flow_responses r where workspace_id = $1
     union all select o::text from orders o where workspace_id = $1
     union all select f::text from flow_files f where workspace_id = $1
     union all select encode(c.bytes, 'escape') from file_chunks c where workspace_id = $1`,
    [workspaceId],
  )
  return rows.map(({ text }) => text).join('\n')
}

test('contents are removed after the period; statuses, numbers and credits stay, and every page says what happened', async () => {
  await passDays(2)
  const shop = await forms.newShop()
  const { workspace } = shop
  const phone = newPhone()
  const { phones } = forms.sending.network.control
  const sent = await shop.sendText(phone, { text: { body: 'secret offer' }, reference: 'order 7' })
  await forms.sending.drain()
  await phones.say(phone, { to: shop.account.phoneNumber, text: 'secret shopping list' })
  await shop.sendForm(phone)
  const bytes = randomBytes(600)
  const form = await shop.fillForm(phone, {
    values: { note: 'secret answer' },
    files: { photos: [{ base64: bytes.toString('base64'), filename: 'secret.jpg', mimeType: 'image/jpeg' }] },
  })
  await forms.fetcher.drain()
  const before = await shop.look(sent.id)
  expect(before.status).toBe('read')

  await passDays(days - 1)
  await runStep()
  expect(await storedText(workspace.id)).toContain('secret offer')
  await passDays(2)
  const recent = await shop.sendText(phone, { text: { body: 'recent text' } })
  await forms.sending.drain()
  await runStep()

  const stored = await storedText(workspace.id)
  expect(stored).not.toMatch(/secret/)
  expect(stored).toContain('recent text')
  expect(await shop.look(sent.id)).toEqual(before)
  const { body } = await workspace.call(`/v1/flow_responses/${form.id}`)
  expect(body as FlowResponse).toMatchObject({
    id: form.id,
    from: phone,
    response: null,
    content_removed_at: server.clock.now().toISOString(),
    files: [{ index: 0, file_name: '', mime_type: 'image/jpeg' }],
  })
  expectRefusal(await workspace.call(fileOf(form.id)), {
    code: 'file_expired',
    message: 'This file was deleted after its retention period.',
  })

  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const read = async (path: string) => (await admin.call(`/w/${workspace.id}/${path}`)).body
  const { data } = await read(`messages?phone=${phone}`)
  const removed = { at: server.clock.now().toISOString(), why: 'retention' }
  const listed = (data as ListedMessage[]).map(({ id, preview, removed }) => ({ id, preview, removed }))
  expect(listed).toHaveLength(5)
  expect(listed.filter(({ id }) => id !== recent.id)).toEqual(
    listed.filter(({ id }) => id !== recent.id).map(({ id }) => ({ id, preview: null, removed })),
  )
  expect(listed.find(({ id }) => id === recent.id)).toMatchObject({ preview: 'recent text', removed: null })
  for (const { id, direction } of data as ListedMessage[]) {
    if (id === recent.id) continue
    const detail = (await read(`messages/${id}`)) as MessageDetail
    expect(detail).toMatchObject({ id, phone, removed, request: null })
    expect(detail.received === null).toBe(direction === 'sent')
  }
  const again = await admin.call(`/w/${workspace.id}/messages/${sent.id}/again`, { method: 'POST', body: {} })
  expect([again.status, again.body.error.message]).toEqual([
    409,
    'The content of this message was removed, so it cannot be sent again.',
  ])
})

test('it continues where it ended, and finds messages of older tables and of a wrong clock', async () => {
  const shop = await forms.newShop()
  const phone = newPhone()
  const { phones } = forms.sending.network.control
  for (let n = 0; n < 5; n++) await phones.say(phone, { to: shop.account.phoneNumber, text: `old ${n}` })
  for (let n = 0; n < 5; n++) await shop.sendText(phone, { text: { body: `old ${n}` } })
  await forms.sending.drain()
  await passDays(12)
  const anySize = { ...moveLimits, recentBytes: 0 }
  await moveOlderMessages(server.db, server.clock, quiet, anySize)
  expect(await moveOlderMessages(server.db, server.clock, quiet, anySize)).toBeGreaterThan(0)

  const run = (limits = removalLimits) => removeOldContents(server.db, server.clock, quiet, days, limits)
  const kept = async () => (await storedText(shop.workspace.id)).match(/old \d/g)?.length ?? 0
  const few = { batch: 2, batches: 1 }
  // Others may have old messages too, so this may take some runs.
  for (let left = await kept(); left > 6; left = await kept()) await run(few)
  expect(await kept()).toBeGreaterThan(0)
  await run()
  expect(await kept()).toBe(0)
  expect(await run()).toEqual({ sent: 0, received: 0 })
  // However many messages there are, a run reads only messages that have become old since the last run.
  await shop.sendText(phone)
  for (const table of ['messages', 'inbound_messages', 'inbound_messages_older_1']) {
    expect(await rowsRead(server.db, table, (tx) => removeOldContents(tx, server.clock, quiet, days)), table).toBe(0)
  }
  await forms.sending.drain()

  // A message that got an ID from before the position, because the clock was wrong for a while.
  await server.db.change(
    `update messages set content = '{"request":{"text":{"body":"old 9"}}}', content_removed_at = null
     where id = (select id from messages where workspace_id = $1 order by id limit 1)`,
    [shop.workspace.id],
  )
  expect(await run()).toEqual({ sent: 0, received: 0 })
  await server.passDays(3)
  expect(await mayDeleteOld(server.db, server.clock, quiet)).toBe(false)
  await passDays(2)
  expect(await run()).toMatchObject({ sent: 1 })
  expect(await kept()).toBe(0)
})

test('an edit and a deletion do not become replies when their content is removed, and a reply stays one', async () => {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const original_message_id = 'wamid.original'
  const edit = { original_message_id, message: { type: 'text', text: { body: 'fixed' } } }
  const { text: _, ...message } = text('wamid.edit')
  await app.post(
    webhookOf(sender.phoneNumberId, [
      { ...text('wamid.reply'), context: { id: original_message_id } },
      { ...message, type: 'edit', edit },
      { ...message, id: 'wamid.deletion', type: 'revoke', revoke: { original_message_id } },
    ]),
  )
  const replies = async () => {
    const { data } = (await workspace.call('/v1/inbound_messages')).body as {
      data: { wa_message_id: string; in_reply_to: unknown; text: unknown }[]
    }
    expect(data).toHaveLength(3)
    return data.flatMap(({ in_reply_to, ...each }) => (in_reply_to === null ? [] : [[each.wa_message_id, each.text]]))
  }
  expect(await replies()).toEqual([['wamid.reply', 'hola']])
  await passDays(days + 1)
  await runStep()
  expect(await replies()).toEqual([['wamid.reply', null]])
})

test('a message that is still to be sent keeps its content', async () => {
  const shop = await forms.newShop()
  const { id } = await shop.sendText(newPhone(), { text: { body: 'wait for me' } })
  await passDays(days + 1)
  await runStep()
  expect(await storedText(shop.workspace.id)).toContain('wait for me')
  // It expired before it was sent.
  await forms.sending.drain()
  expect((await shop.look(id)).status).toBe('failed')
  await runStep()
  expect(await storedText(shop.workspace.id)).not.toContain('wait for me')
})

test('updates that wait for their number are not stored for longer than contents', async () => {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const webhook = webhookOf('999', [text(`wamid.${sender.id}`, 'parked text')])
  expect(await app.post({ ...webhook, entry: webhook.entry.map((entry) => ({ ...entry, id: sender.wabaId })) })).toBe(
    200,
  )
  const parked = () => server.db.rows('select 1 from parked_updates where workspace_id = $1', [workspace.id])
  await passDays(days - 1)
  await runStep()
  expect(await parked()).toHaveLength(1)
  await passDays(2)
  await runStep()
  expect(await parked()).toEqual([])
})
