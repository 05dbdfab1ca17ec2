import { expect, test } from 'vitest'
import { useForms } from '../../../testing/forms.ts'
import { passSteadyDays } from '../../../testing/pass-days.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newLogger } from '../../lib/logger.ts'
import { moveLimits, moveOlderMessages } from '../messages/receiving/older-messages.ts'
import { removeOldContents } from '../privacy/content-retention.ts'
import { beginErasure, eraseDue } from '../privacy/erase.ts'
import { blockSize } from './add.ts'
import { fillLimits, fillSearch } from './fill.ts'
import { keyOf } from './keys.ts'

const server = useTestServer()
const forms = useForms(server)
const quiet = newLogger('silent')

let people = 0
const newPhone = () => String(16_505_592_000 + ++people)

async function fill(limits = fillLimits): Promise<void> {
  server.clock.forward({ minutes: 1 })
  await fillSearch(server.db, server.clock, limits)
}

/** The words of a workspace that begin with a text, and how many objects have them. */
const words = async (workspaceId: string, beginning = ''): Promise<Record<string, number>> =>
  Object.fromEntries(
    (
      await server.db.rows<{ word: string; objects: number }>(
        `select word, sum(cardinality(objects))::int as objects from search_words
         where workspace_id = $1 and starts_with(word, $2) group by word order by word`,
        [workspaceId, beginning],
      )
    ).map(({ word, objects }) => [word, objects]),
  )

const numbers = async (workspaceId: string): Promise<string[]> =>
  (
    await server.db.rows<{ number: string }>(
      'select number from search_numbers where workspace_id = $1 order by number',
      [workspaceId],
    )
  ).map(({ number }) => number)

/** A person who wrote, got a message, filled in a form and ordered; all with words that begin with "zz". */
async function newConversation() {
  const shop = await forms.newShop()
  const phone = newPhone()
  const { phones, idle } = forms.sending.network.control
  phones.change(phone, { name: 'Zzoe' })
  await shop.sendText(phone, { text: { body: 'zzoffer zzcommon' }, reference: 'zzref-7' })
  await forms.sending.drain()
  await phones.say(phone, { to: shop.account.phoneNumber, text: 'zzquestion zzcommon' })
  await shop.sendForm(phone)
  await shop.fillForm(phone, { values: { zzfield: 'zzanswer', size: 42 } })
  await phones.order(phone, {
    to: shop.account.phoneNumber,
    catalogId: 'c1',
    text: 'zznote',
    items: [{ retailerId: 'zzproduct', quantity: 1, price: 2, currency: 'EUR' }],
  })
  await idle()
  return { ...shop, phone }
}

test('words of messages, names, orders and forms are stored once, also if it runs again', async () => {
  const { workspace, phone } = await newConversation()
  await fill()
  const stored = {
    '=zzoe': 1,
    zzanswer: 1,
    zzcommon: 2,
    // Of the message with the order, and of the order.
    zznote: 2,
    zzoffer: 1,
    zzproduct: 1,
    zzquestion: 1,
    zzref: 1,
  }
  const own = async () => ({ ...(await words(workspace.id, '=zz')), ...(await words(workspace.id, 'zz')) })
  expect(await own()).toEqual(stored)
  expect(await words(workspace.id, '42')).toEqual({ 42: 1 })
  expect(await numbers(workspace.id)).toEqual([phone])
  server.clock.forward({ minutes: 30 })
  await fill()
  expect(await own()).toEqual(stored)
})

test('objects from before the first run are stored newest first, in steps', async () => {
  const shop = await forms.newShop()
  for (let n = 0; n < 6; n++) await shop.sendText(newPhone(), { text: { body: `yyold yy${n}` } })
  server.clock.forward({ minutes: 1 })
  await server.db.change('delete from search_progress')
  await server.db.change('delete from search_words where workspace_id = $1', [shop.workspace.id])
  await server.db.change('delete from search_blocks where workspace_id = $1', [shop.workspace.id])
  await fillSearch(server.db, server.clock, { batch: 2, newBatches: 1, oldBatches: 1 })
  expect(await words(shop.workspace.id, 'yy')).toEqual({ yyold: 2, yy4: 1, yy5: 1 })
  const newer = await shop.sendText(newPhone(), { text: { body: 'yynew' } })
  await fill()
  expect(await words(shop.workspace.id, 'yy')).toEqual({
    yyold: 6,
    yy0: 1,
    yy1: 1,
    yy2: 1,
    yy3: 1,
    yy4: 1,
    yy5: 1,
    yynew: 1,
  })
  expect(await server.db.rows('select kind from search_progress where oldest_id is not null')).toEqual([])
  const [row] = await server.db.rows<{ last: string }>(
    `select max(last_key)::text as last from search_blocks where workspace_id = $1 and kind = 'message'`,
    [shop.workspace.id],
  )
  expect(row?.last).toBe(keyOf(newer.id.slice(4)))
})

test('a message that was committed after later ones is found by the second look', async () => {
  const shop = await forms.newShop()
  const late = await shop.sendText(newPhone(), { text: { body: 'xxlate' } })
  await server.db.change('create table put_aside as select * from messages where id = $1', [late.id.slice(4)])
  await server.db.change('delete from outbox where message_id = $1', [late.id.slice(4)])
  await server.db.change('delete from messages where id = $1', [late.id.slice(4)])
  await shop.sendText(newPhone(), { text: { body: 'xxother' } })
  await fill()
  await server.db.change('insert into messages select * from put_aside')
  await fill()
  expect(await words(shop.workspace.id, 'xx')).toEqual({ xxother: 1 })
  server.clock.forward({ minutes: 25 })
  await fill()
  expect(await words(shop.workspace.id, 'xx')).toEqual({ xxlate: 1, xxother: 1 })
})

test('a block that is full is followed by another one', async () => {
  const shop = await forms.newShop()
  await shop.sendText(newPhone(), { text: { body: 'wwone' } })
  await fill()
  await server.db.change('update search_blocks set objects = $2 where workspace_id = $1', [
    shop.workspace.id,
    blockSize,
  ])
  await shop.sendText(newPhone(), { text: { body: 'wwone' } })
  await fill()
  const blocks = await server.db.rows(
    'select block, objects from search_blocks where workspace_id = $1 order by block',
    [shop.workspace.id],
  )
  expect(blocks).toEqual([
    { block: 1, objects: blockSize },
    { block: 2, objects: 1 },
  ])
})

test('erasing a person removes their words, name and number, and nothing of others', async () => {
  const { workspace, phone, sendText } = await newConversation()
  const other = newPhone()
  await sendText(other, { text: { body: 'zzcommon vvother' } })
  await forms.sending.drain()
  await fill()
  expect(await words(workspace.id, 'zzcommon')).toEqual({ zzcommon: 3 })
  server.clock.forward({ minutes: 1 })
  await beginErasure(server.db, server.clock, { workspaceId: workspace.id, person: { number: phone }, askedBy: 'test' })
  await eraseDue(server.db, server.clock, quiet)
  expect(await words(workspace.id, 'zz')).toEqual({ zzcommon: 1 })
  expect(await words(workspace.id, '=')).toEqual({})
  expect(await words(workspace.id, 'vv')).toEqual({ vvother: 1 })
  expect(await numbers(workspace.id)).toEqual([other])
  expect(await server.db.rows('select 1 from search_removals where workspace_id = $1', [workspace.id])).toEqual([])
  server.clock.forward({ minutes: 30 })
  await fill()
  expect(await words(workspace.id, 'zz')).toEqual({ zzcommon: 1 })
})

test('contents that are removed after their period are removed from the words too, also those of older messages', async () => {
  const { workspace, phone, sendText } = await newConversation()
  await fill()
  await passSteadyDays(server, 12)
  // Into a table that inherits.
  const limits = { ...moveLimits, recentBytes: 0 }
  await moveOlderMessages(server.db, server.clock, quiet, limits)
  expect(await moveOlderMessages(server.db, server.clock, quiet, limits)).toBeGreaterThan(0)
  await sendText(phone, { text: { body: 'zzrecent' } })
  await forms.sending.drain()
  await fill()
  expect(await words(workspace.id, 'zzq')).toEqual({ zzquestion: 1 })
  await removeOldContents(server.db, server.clock, quiet, 7)
  expect(await words(workspace.id)).toEqual({ zzrecent: 1 })
  // The number is kept as long as the message is.
  expect(await numbers(workspace.id)).toEqual([phone])
})

test('a content that is removed while its words are being added is removed from them', async () => {
  const { workspace } = await newConversation()
  let filled: Promise<void> | undefined
  await server.db.transaction(async (tx) => {
    await tx.change(
      `update messages set content = '{"request":null}', content_removed_at = now() where workspace_id = $1`,
      [workspace.id],
    )
    // It sees the content from before, because this transaction has not ended.
    filled = fill()
    await filled
  })
  await filled
  expect(await words(workspace.id, 'zzoffer')).toEqual({ zzoffer: 1 })
  await fill()
  expect(await words(workspace.id, 'zzoffer')).toEqual({})
})

test('deleting a workspace deletes its words', async () => {
  const { id } = await newWorkspace(server)
  await server.db.change(`insert into search_blocks values ($1, 1, 'message', 1, 1, 1)`, [id])
  await server.db.change(`insert into search_words values ($1, 1, 'word', '{1}')`, [id])
  await server.db.change(`insert into search_numbers values ($1, '123', '321')`, [id])
  for (const table of ['api_keys', 'key_usage', 'credit_balances', 'memberships']) {
    await server.db.change(`delete from ${table} where workspace_id = $1`, [id])
  }
  await server.db.change('delete from workspaces where id = $1', [id])
  for (const table of ['search_blocks', 'search_words', 'search_numbers']) {
    expect(await server.db.rows(`select 1 from ${table} where workspace_id = $1`, [id]), table).toEqual([])
  }
})
