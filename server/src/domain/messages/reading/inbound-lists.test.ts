import type { StoredInboundMessage } from '@parley/contract/inbound-message'
import type { List } from '@parley/contract/page'
import { expect, onTestFinished, test } from 'vitest'
import { newApp, newSender, text, webhookOf } from '../../../../testing/network-app.ts'
import { passSteadyDays } from '../../../../testing/pass-days.ts'
import { rowsRead } from '../../../../testing/rows-read.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../../../testing/workspace.ts'
import { withOrderedLookups } from '../../../db/planner-settings.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { moveLimits, moveOlderMessages, recentDays } from '../receiving/older-messages.ts'
import { type InboundSearch, inboundOf } from './inbound.sql.ts'
import { listInbound } from './inbound.ts'

const server = useTestServer()
const quiet = newLogger('silent')

/** A workspace with two numbers, and a way to receive messages. */
async function newNumbers() {
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
  const messages: StoredInboundMessage[] = []
  const totals = new Set<number>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { status, body } = await server.call(`/v1/inbound_messages?${query}${cursor && `&cursor=${cursor}`}`, {
      key: secret,
    })
    expect(status, JSON.stringify(body)).toBe(200)
    const page = body as List<StoredInboundMessage>
    messages.push(...page.data)
    totals.add(page.total)
    cursor = page.next_cursor
  }
  return { messages, totals: [...totals] }
}

test('a list has the messages that match its filters in the order of recording, wherever they are stored', async () => {
  const { workspace, senderIds, receive } = await newNumbers()
  const start = server.clock.now().getTime()
  await receive(40)
  const at = (hours: number) => new Date(start + hours * 3_600_000).toISOString()
  type Matches = (message: StoredInboundMessage) => boolean
  const ofPerson: Matches = ({ from }) => from === '16505550003'
  const between =
    (from: number, to: number): Matches =>
    ({ received_at }) =>
      received_at > at(from) && received_at < at(to)
  const [first, second] = senderIds
  const filters: [query: string, matches: Matches][] = [
    ['limit=25', () => true],
    [`limit=8&sender_id=${second}`, ({ sender_id }) => sender_id === second],
    ['limit=3&type=button', ({ type }) => type === 'button'],
    ['limit=3&type=order', ({ type }) => type === 'order'],
    ['limit=3&type=sticker', () => false],
    [`limit=2&type=button&sender_id=${first}`, ({ type, sender_id }) => type === 'button' && sender_id === first],
    ['limit=3&from=16505550003', ofPerson],
    ['limit=3&from=16505550003&type=text', (message) => ofPerson(message) && message.type === 'text'],
    ['limit=3&sender_id=snd_00000000-0000-0000-0000-000000000000', () => false],
    [`limit=15&received_after=${at(9.2)}`, between(9.2, 1_000)],
    [`limit=15&received_before=${at(9.2)}`, between(-1_000, 9.2)],
    [`limit=15&received_after=${at(-30)}&received_before=${at(7)}`, between(-30, 7)],
    [
      `limit=15&received_after=${at(-30)}&received_before=${at(7)}&type=text&sender_id=${first}`,
      (message) => between(-30, 7)(message) && message.type === 'text' && message.sender_id === first,
    ],
    [`limit=15&received_after=${at(5)}&received_before=${at(5.1)}`, between(5, 5.1)],
  ]
  const expectLists = async (recorded: number) => {
    const all = (await pagesOf(workspace, 'limit=100&order=asc')).messages
    expect(all.map(({ wa_message_id }) => wa_message_id)).toEqual(
      Array.from({ length: recorded }, (_, n) => `wamid.${n}`),
    )
    for (const [query, matches] of filters) {
      const expected = all.filter(matches)
      for (const order of ['asc', 'desc'] as const) {
        const { messages, totals } = await pagesOf(workspace, `${query}&order=${order}`)
        expect(messages, `${query} ${order}`).toEqual(order === 'asc' ? expected : expected.toReversed())
        expect(totals, `${query} ${order}`).toEqual([expected.length])
      }
    }
  }
  await expectLists(40)
  await passSteadyDays(server, recentDays + 1)
  const anySize = { ...moveLimits, recentBytes: 0 }
  await moveOlderMessages(server.db, server.clock, quiet, anySize)
  expect(await moveOlderMessages(server.db, server.clock, quiet, anySize)).toBeGreaterThanOrEqual(40)
  await receive(3)
  await expectLists(43)
})

/** Stores text messages of the days before yesterday, one a second, until the end of the test. One is a button, some are late. */
async function store(workspaceId: string, messages: number, name = 'stored'): Promise<void> {
  onTestFinished(() => server.db.script('delete from inbound_messages'))
  await server.db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at, content)
     select gen_random_uuid(), $1::uuid, $1::uuid, 'wamid.' || $4::text || n, '1650555' || lpad((n % 997)::text, 4, '0'),
       case when n = 700 then 'button' else 'text' end,
       at - case when n % 100 = 0 then interval '3 hours' else interval '2 seconds' end, at, '{"text": "hi"}'
     from generate_series(1, $2::int) as n
     cross join lateral (select $3::timestamptz + n * interval '1 second' as at) as recorded`,
    [workspaceId, messages, new Date(server.clock.now().getTime() - 2 * 86_400_000 - messages * 1_000), name],
  )
}

test('a total is exact up to 10,000', async () => {
  const workspace = await newWorkspace(server)
  await store(workspace.id, 10_000)
  const totalOf = async (query = '') => {
    const { body } = await workspace.call(`/v1/inbound_messages?limit=1${query}`)
    const { total, total_is_exact } = body as List<StoredInboundMessage>
    return { total, total_is_exact }
  }
  expect(await totalOf()).toEqual({ total: 10_000, total_is_exact: true })
  await store(workspace.id, 1, 'one more')
  expect(await totalOf()).toEqual({ total: 10_000, total_is_exact: false })
  expect(await totalOf('&type=button')).toEqual({ total: 1, total_is_exact: true })
})

test('a list reads few messages, whatever its filter is and however many there are', async () => {
  const workspace = await newWorkspace(server)
  await store(workspace.id, 40_000)
  await server.db.script('analyze inbound_messages')
  const first = new Date(server.clock.now().getTime() - 2 * 86_400_000 - 40_000_000).getTime()
  const time = (hours: number) => new Date(first + hours * 3_600_000).toISOString()
  const page = { take: 21, after: null, order: 'desc' } as const
  const cost = (filters: Parameters<typeof listInbound>[3], order: 'asc' | 'desc') =>
    rowsRead(server.db, 'inbound_messages', (tx) => listInbound(tx, workspace.id, '', filters, { ...page, order }))
  const sender_id = `snd_${workspace.id}`
  // What they count, and a page. With a time, also two hours, of 3,600 messages each, and the late ones.
  for (const [filters, most] of [
    [{}, 10_100],
    [{ type: 'button' }, 10],
    [{ type: 'sticker' }, 10],
    [{ from: '16505550007' }, 200],
    [{ sender_id }, 10_100],
    [{ sender_id, type: 'button' }, 10],
    [{ received_before: time(1) }, 15_700],
    [{ received_after: time(10.5) }, 11_000],
    [{ received_after: time(5), received_before: time(5.01) }, 15_500],
  ] as const) {
    for (const order of ['asc', 'desc'] as const) {
      expect(await cost(filters, order), `${JSON.stringify(filters)} ${order}`).toBeLessThan(most)
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
    const search = { workspaceId: workspace.id } as InboundSearch
    const blocksRead = (seconds: number | null) =>
      withOrderedLookups(server.db, async (tx) => {
        const fetched = `select pg_stat_get_xact_blocks_fetched('inbound_messages_by_workspace'::regclass)::int as blocks`
        const at = seconds === null ? null : new Date(end.getTime() - seconds * 1000)
        const after = at && { at, id: '00000000-0000-0000-0000-000000000000' }
        const rows = await inboundOf(tx, search, { take: 21, after, order })
        expect(rows).toHaveLength(21)
        return (await tx.first<{ blocks: number }>(fetched))?.blocks ?? Number.NaN
      })
    const first = await blocksRead(null)
    expect(first).toBeGreaterThan(0)
    expect(await blocksRead(order === 'desc' ? 4_500 : 500)).toBeLessThanOrEqual(first + 5)
  },
)
