import type { StoredInboundMessage } from '@parley/contract/inbound-message'
import type { List } from '@parley/contract/page'
import { expect, onTestFinished, test } from 'vitest'
import { newApp, newSender, text, webhookOf } from '../../../../testing/network-app.ts'
import { passSteadyDays } from '../../../../testing/pass-days.ts'
import { rowsRead } from '../../../../testing/rows-read.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../../../testing/workspace.ts'
import { newLogger } from '../../../lib/logger.ts'
import { moveLimits, moveOlderMessages, recentDays } from '../receiving/older-messages.ts'
import { inboundIn } from './inbound.sql.ts'
import { listInbound } from './inbound.ts'
import { countBlocks, fromIndex } from './inbound-blocks.ts'

const server = useTestServer()
const quiet = newLogger('silent')

const count = (size: number) => countBlocks(server.db, server.clock, quiet, size)

const passDays = (days: number) => passSteadyDays(server, days)

/** A workspace with two numbers, and a way to receive messages. */
async function newNumbers() {
  await passDays(2)
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const senders: Awaited<ReturnType<typeof newSender>>[] = []
  for (let n = 0; n < 2; n++) {
    senders.push(await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15))))
  }
  let received = 0
  return {
    workspace,
    senderIds: senders.map(({ id }) => `snd_${id}`),
    /** Every third message to the second number, every seventh a button, every ninth an order, every eleventh two days late. */
    async receive(messages: number) {
      for (let n = 0; n < messages; n++) {
        const number = received++
        const sentAt = server.clock.now().getTime() - (number % 11 === 10 ? 2 * 86_400_000 : 1_500)
        const from = `1650555${String(number % 5).padStart(4, '0')}`
        const message = { ...text(`wamid.${number}`), from, timestamp: String(Math.trunc(sentAt / 1000)) }
        const button = { type: 'button', button: { payload: 'a', text: 'A' } }
        const order = {
          type: 'order',
          order: {
            catalog_id: '1',
            product_items: [{ product_retailer_id: 'A', quantity: 1, item_price: 1, currency: 'EUR' }],
          },
        }
        const content = number % 7 === 6 ? button : number % 9 === 8 ? order : {}
        const sender = senders[number % 3 === 2 ? 1 : 0]
        expect(await app.post(webhookOf(sender?.phoneNumberId ?? '', [{ ...message, ...content }]))).toBe(200)
        server.clock.forward({ minutes: 20 })
      }
    },
  }
}

/** All messages of a list, page by page, with the total of each page. */
async function pagesOf(workspace: TestWorkspace, query: string) {
  // Each with its own rate limit.
  const { secret } = await workspace.newKey()
  const ids: string[] = []
  const totals = new Set<number>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await server.call(`/v1/inbound_messages?${query}${cursor && `&cursor=${cursor}`}`, {
      key: secret,
    })
    expect(status, JSON.stringify(body)).toBe(200)
    const page = body as List<StoredInboundMessage>
    ids.push(...page.data.map(({ wa_message_id }) => String(wa_message_id)))
    totals.add(page.total)
    cursor = page.next_cursor
  }
  return { ids, totals: [...totals] }
}

test('lists and totals are the same whether messages are counted in blocks or not, and where they are stored', async () => {
  const { workspace, senderIds, receive } = await newNumbers()
  const start = server.clock.now().getTime()
  await receive(40)
  const at = (hours: number) => new Date(start + hours * 3_600_000).toISOString()
  const filters = [
    'limit=25',
    `limit=8&sender_id=${senderIds[1]}`,
    'limit=3&type=button',
    'limit=3&type=order',
    'limit=3&type=sticker',
    `limit=2&type=button&sender_id=${senderIds[0]}`,
    'limit=3&from=16505550003',
    'limit=3&from=16505550003&type=text',
    'limit=3&sender_id=snd_00000000-0000-0000-0000-000000000000',
    `limit=15&received_after=${at(9.2)}`,
    `limit=15&received_before=${at(9.2)}`,
    `limit=15&received_after=${at(-30)}&received_before=${at(7)}`,
    `limit=15&received_after=${at(-30)}&received_before=${at(7)}&type=text&sender_id=${senderIds[0]}`,
    `limit=15&received_after=${at(5)}&received_before=${at(5.1)}`,
  ].flatMap((filter) => [`${filter}&order=asc`, `${filter}&order=desc`])
  const read = async () => {
    const found = []
    for (const filter of filters) found.push([filter, await pagesOf(workspace, filter)] as const)
    return found
  }
  const before = await read()
  for (const [filter, { ids, totals }] of before) {
    expect(new Set(ids).size, filter).toBe(ids.length)
    expect(totals, filter).toEqual([ids.length])
  }
  expect(before[0]?.[1].ids).toHaveLength(40)

  expect(await count(5)).toBe(7)
  expect(await count(5)).toBe(0)
  expect(await read()).toEqual(before)
  await passDays(2)
  await count(5)
  expect(await read()).toEqual(before)

  await passDays(recentDays)
  const anySize = { ...moveLimits, recentBytes: 0 }
  await moveOlderMessages(server.db, server.clock, quiet, anySize)
  expect(await moveOlderMessages(server.db, server.clock, quiet, anySize)).toBeGreaterThanOrEqual(40)
  expect(await read()).toEqual(before)

  await receive(3)
  const { ids, totals } = await pagesOf(workspace, 'limit=100&order=asc')
  expect(ids).toEqual([...(before[0]?.[1].ids ?? []), 'wamid.40', 'wamid.41', 'wamid.42'])
  expect(totals).toEqual([43])
})

/** Stores text messages of the days before yesterday, one a second, until the end of the test. One is a button. */
async function store(workspaceId: string, messages: number): Promise<void> {
  onTestFinished(() => server.db.script('delete from inbound_messages; delete from inbound_blocks'))
  await server.db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content)
     select gen_random_uuid(), $1::uuid, $1::uuid, 'wamid.stored.' || n, '1650555' || lpad((n % 997)::text, 4, '0'),
       case when n = 700 then 'button' else 'text' end, at - interval '2 seconds', at, '{"text": "hi"}'
     from generate_series(1, $2::int) as n
     cross join lateral (select $3::timestamptz + n * interval '1 second' as at) as recorded`,
    [workspaceId, messages, new Date(server.clock.now().getTime() - 2 * 86_400_000 - messages * 1_000)],
  )
}

test('a list reads few messages, whatever its filter is and however many there are', async () => {
  await passDays(2)
  const workspace = await newWorkspace(server)
  await store(workspace.id, 4_000)
  await server.db.script('analyze inbound_messages')
  const first = new Date(server.clock.now().getTime() - 2 * 86_400_000 - 4_000_000).getTime()
  const page = { take: 21, after: null, order: 'desc' } as const
  const cost = (filters: Parameters<typeof listInbound>[3], order: 'asc' | 'desc' = 'desc') =>
    rowsRead(server.db, 'inbound_messages', (tx) => listInbound(tx, workspace.id, '', filters, { ...page, order }))
  const searches = [
    {},
    { type: 'button' },
    { type: 'sticker' },
    { from: '16505550007' },
    { sender_id: `snd_${workspace.id}` },
    { sender_id: `snd_${workspace.id}`, type: 'button' },
    { received_before: new Date(first + 1_800_000).toISOString() },
    { received_after: new Date(first + 1_800_000).toISOString() },
    {
      received_after: new Date(first + 1_800_000).toISOString(),
      received_before: new Date(first + 1_801_000).toISOString(),
    },
  ] as const
  // Without blocks, all of them are read.
  expect(await cost({ type: 'button' })).toBeGreaterThan(3_800)
  const totals = async () => {
    const found = []
    for (const search of searches) found.push((await listInbound(server.db, workspace.id, '', search, page)).total)
    return found
  }
  const before = await totals()
  expect(await countBlocks(server.db, server.clock, quiet, 100)).toBe(39)
  expect(await totals()).toEqual(before)
  // A page, the block or two in which it is found, those at the ends of a time range, and what is not counted yet.
  for (const search of searches) {
    for (const order of ['asc', 'desc'] as const) {
      expect(await cost(search, order), `${JSON.stringify(search)} ${order}`).toBeLessThan(600)
    }
  }
})

test.each(['desc', 'asc'] as const)(
  'a page far down the list, %s, reads no more of the index than the first one',
  async (order) => {
    const workspace = await newWorkspace(server)
    const app = await newApp(server)
    const { id: senderId } = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
    const end = server.clock.now()
    await server.db.change(
      `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content)
     select gen_random_uuid(), $1, $2, 'wamid.' || n, '16505550123', 'text', at, at, '{}'
     from (select n, $3::timestamptz - n * interval '1 second' as at from generate_series(1, 5000) as n) as made`,
      [workspace.id, senderId, end],
    )
    const search = { workspaceId: workspace.id, ...noFilters }
    const blocksRead = (seconds: number | null) =>
      fromIndex(server.db, async (tx) => {
        const fetched = `select pg_stat_get_xact_blocks_fetched('inbound_messages_by_workspace'::regclass)::int as blocks`
        const at = seconds === null ? null : new Date(end.getTime() - seconds * 1000)
        const after = at && { at, id: '00000000-0000-0000-0000-000000000000' }
        const rows = await inboundIn(tx, search, [{ firstAt: '-infinity', endAt: 'infinity' }], {
          take: 21,
          after,
          order,
        })
        expect(rows).toHaveLength(21)
        return (await tx.first<{ blocks: number }>(fetched))?.blocks ?? Number.NaN
      })
    const first = await blocksRead(null)
    expect(first).toBeGreaterThan(0)
    expect(await blocksRead(order === 'desc' ? 4_500 : 500)).toBeLessThanOrEqual(first + 5)
  },
)

const noFilters = {
  senderId: undefined,
  from: undefined,
  type: undefined,
  receivedAfter: undefined,
  receivedBefore: undefined,
}

test('messages that were recorded in the same moment are in one block, however many there are', async () => {
  await passDays(2)
  const workspace = await newWorkspace(server)
  const at = new Date(server.clock.now().getTime() - 3 * 86_400_000)
  await server.db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content)
     select gen_random_uuid(), $1::uuid, $1::uuid, 'wamid.moment.' || n, '16505550123', 'text', at, at, '{"text": "hi"}'
     from generate_series(1, 40) as n
     cross join lateral (select $2::timestamptz + (n / 30) * interval '1 minute' + (n % 30) * interval '10 microseconds' as at) as x`,
    [workspace.id, at],
  )
  await countBlocks(server.db, server.clock, quiet, 5)
  const blocks = await server.db.rows(
    `select messages from inbound_blocks where workspace_id = $1 and type = '' and sender_id <> $1 order by first_at`,
    [workspace.id],
  )
  expect(blocks).toEqual([{ messages: 29 }])
  expect((await pagesOf(workspace, 'limit=100&type=text')).ids).toHaveLength(40)
})

test('a message that a frozen process stores in a block that is counted already is counted a day later', async () => {
  const { workspace, receive } = await newNumbers()
  await receive(30)
  const anHour = 3_600_000
  expect(await count(5)).toBe(5)
  await server.db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content)
     select gen_random_uuid(), workspace_id, sender_id, 'wamid.frozen', sent_by, 'sticker', $2, $2, '{}' from inbound_messages
     where workspace_id = $1 limit 1`,
    [workspace.id, new Date(server.clock.now().getTime() - 8 * anHour)],
  )
  const stickers = async () => await pagesOf(workspace, 'type=sticker')
  expect((await pagesOf(workspace, 'limit=100')).ids).toContain('wamid.frozen')
  await count(5)
  expect(await stickers()).toEqual({ ids: [], totals: [0] })
  await passDays(2)
  await count(5)
  expect(await stickers()).toEqual({ ids: ['wamid.frozen'], totals: [1] })
  expect((await pagesOf(workspace, 'limit=100')).totals).toEqual([31])
  // Its new count is confirmed too, and then none is left.
  await count(5)
  expect(
    await server.db.rows('select 1 from inbound_blocks where not confirmed and workspace_id = $1', [workspace.id]),
  ).toEqual([])
})

test('while the clock of the database may be wrong, nothing is counted', async () => {
  const { receive } = await newNumbers()
  await receive(12)
  await server.passDays(3)
  expect(await count(5)).toBe(0)
  await passDays(2)
  expect(await count(5)).toBeGreaterThan(0)
})

test('counting new blocks does not read the messages of earlier ones', async () => {
  await passDays(2)
  const workspace = await newWorkspace(server)
  await store(workspace.id, 4_000)
  await server.db.script('analyze inbound_messages')
  expect(await count(100)).toBe(39)
  // The second run confirms them.
  expect(await count(100)).toBe(0)
  const read = await rowsRead(server.db, 'inbound_messages', (tx) => countBlocks(tx, server.clock, quiet, 100))
  expect(read).toBeLessThan(400)
})
