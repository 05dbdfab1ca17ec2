import type { InboundMessageFilters } from '@parley/contract/inbound-message'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'
import { newLogger } from '../../../lib/logger.ts'
import { getInbound, listInbound } from './inbound.ts'
import { countBlocks } from './inbound-blocks.ts'

/**
 * Ten million inbound messages of one workspace over 100 days, from 400,000 people to five senders, those older than ten days in
 * a table of older messages. Run with PARLEY_SCALE=1 (takes some minutes and about 7 GB of disk). Buttons are rare, and an hour
 * of messages was delivered two days late.
 */
const rows = Number(process.env.PARLEY_SCALE_ROWS ?? 10_000_000)
const days = 100
const timings: Record<string, number> = {}

let started: Awaited<ReturnType<typeof startTestServer>>
let workspaceId = ''

beforeAll(async () => {
  if (!process.env.PARLEY_SCALE) return
  started = await startTestServer()
  const { db, clock } = started.server
  workspaceId = (await newWorkspace(started.server)).id
  await db.rows('select add_older_inbound_messages()')
  for (let day = 0; day < days; day++) {
    const table = day < days - 10 ? 'inbound_messages_older_1' : 'inbound_messages'
    await db.change(
      `insert into ${table} (id, workspace_id, sender_id, wa_message_id, sent_by, sent_by_user_id, profile_name, type,
         received_at, recorded_at, content)
       select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 19))::uuid,
         $1::uuid, md5((n % 5)::text)::uuid, 'wamid.' || md5($4::text || '/' || n),
         '4917' || lpad((hashint4(n) & 2147483647)::bigint % 400000 || '', 8, '0'), null, 'Ana',
         case when n % 100 < 70 then 'text' when n % 100 < 85 then 'image' when n % 100 < 95 then 'interactive'
           when n % 1000 = 999 then 'order' when $4::text = '20' and n = 97 then 'button' else 'audio' end,
         at - case when $4::text = '50' and n < $3::int / 24 then interval '2 days' else interval '1 second' end, at,
         '{"text": "Are you open today? I would like to book a table for two."}'
       from generate_series(1, $3::int) as n
       cross join lateral (select $2::timestamptz + n * interval '86400 seconds' / $3::int as at) as recorded`,
      [workspaceId, new Date(clock.now().getTime() - (days - day) * 86_400_000), Math.ceil(rows / days), String(day)],
    )
  }
  for (const table of ['inbound_messages', 'inbound_messages_older_1']) await db.script(`vacuum analyze ${table}`)
}, 3_600_000)

afterAll(async () => {
  if (started) {
    console.table(timings)
    await started.close()
  }
})

/** Records the slowest of several runs in milliseconds; the first run is recorded separately as cold. */
async function timed<T>(name: string, work: () => Promise<T>): Promise<T> {
  const first = performance.now()
  let result = await work()
  timings[`${name}, cold`] = Math.round(performance.now() - first)
  for (let run = 0; run < 8; run++) {
    const start = performance.now()
    result = await work()
    timings[name] = Math.max(timings[name] ?? 0, Math.round(performance.now() - start))
  }
  return result
}

test.skipIf(!process.env.PARLEY_SCALE)(
  'ten million inbound messages are listed and counted in less than a second, with every filter',
  async () => {
    const { db: all, clock } = started.server
    const db = all.within(workspaceId)
    const before = performance.now()
    timings['without blocks, total'] = (
      await listInbound(db, workspaceId, 'https://parley.example', {}, { take: 21, after: null, order: 'desc' })
    ).total
    timings['without blocks'] = Math.round(performance.now() - before)
    const counting = performance.now()
    timings.blocks = await countBlocks(all, clock, newLogger('silent'))
    timings['counting all blocks'] = Math.round(performance.now() - counting)
    const daysAgo = (n: number) => new Date(clock.now().getTime() - n * 86_400_000).toISOString()
    const [some] = await db.rows<{ id: string; person: string }>(
      'select sender_id as id, sent_by as person from inbound_messages limit 1',
    )
    const senderId = `snd_${some?.id}`
    const searches: Record<string, InboundMessageFilters> = {
      'no filter': {},
      'a sender': { sender_id: senderId },
      'a person': { from: some?.person ?? '' },
      'a frequent type': { type: 'text' },
      'a type that one message has': { type: 'button' },
      'a type that no message has': { type: 'sticker' },
      'a rare type of a sender': { type: 'order', sender_id: senderId },
      'since a day': { received_after: daysAgo(1) },
      'until 99 days ago': { received_before: daysAgo(99) },
      'an hour, 50 days ago': { received_after: daysAgo(50), received_before: daysAgo(49.96) },
      'a rare type, for a week': { type: 'order', received_after: daysAgo(60), received_before: daysAgo(53) },
    }
    for (const [name, filters] of Object.entries(searches)) {
      for (const order of ['asc', 'desc'] as const) {
        for (const take of [21, 101]) {
          const label = `${name}, ${order}, ${take - 1}`
          const found = await timed(label, () => listInbound(db, workspaceId, 'https://parley.example', filters, { take, after: null, order }))
          if (take === 101 && found.rows.length > 60) {
            const after = { at: found.rows[50]?.at as Date, id: found.rows[50]?.id as string }
            await timed(`${label}, next`, () => listInbound(db, workspaceId, 'https://parley.example', filters, { take, after, order }))
          }
          if (take === 101) timings[`${label}: total`] = found.total
        }
      }
    }
    const { rows: newest } = await listInbound(db, workspaceId, 'https://parley.example', {}, { take: 1, after: null, order: 'asc' })
    await timed('one message', () => getInbound(db, workspaceId, 'https://parley.example', `msg_${newest[0]?.id}`))
    const slow = Object.entries(timings).filter(([name, ms]) => !/cold|total|blocks/.test(name) && ms > 1_000)
    expect(slow).toEqual([])
  },
  3_600_000,
)
