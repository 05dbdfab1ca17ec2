import { moveLimits } from '@parley/server/domain/messages/receiving/older-messages'
import { expect, onTestFinished, test } from 'vitest'
import { newDataDir } from '../../server/testing/prepared-data-dir.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { seedEvents } from './growth-seed.ts'
import { grantedCredits, prepare } from './lib/prepare.ts'
import { Scope } from './lib/scope.ts'

const events = 4_000
const messages = events / 4

test('stored events have all their rows, in the partitions of their days, and the schema stays as it was', async () => {
  const dataDir = newDataDir(tempFolder())
  const scope = new Scope(() => {})
  onTestFinished(() => scope.end())
  const prepared = await prepare(dataDir, { hookUrls: Array<string>(3).fill('http://127.0.0.1:9/'), keysEach: 1 })
  const schema = () =>
    scope.part(async (part) => {
      const { db } = await part.openStore(dataDir)
      return db.rows(`select c.relname as table, i.relname as name, pg_get_userbyid(i.relowner) as owner,
          replace(pg_get_indexdef(i.oid), ' ONLY ', ' ') as definition, indisvalid as valid,
          exists (select from pg_constraint where conindid = i.oid and contype in ('p', 'u')) as constraint
        from pg_index join pg_class c on c.oid = indrelid join pg_class i on i.oid = indexrelid
        where c.relnamespace = 'public'::regnamespace and c.relname !~ '_\\d+$' order by 1, 2`)
    })
  const before = await schema()
  // Small limits, so that there are several tables of older messages.
  const limits = { ...moveLimits, recentBytes: 0, olderBytes: 200_000 }
  await seedEvents(scope, dataDir, prepared, events, limits)
  expect(await schema()).toEqual(before)

  const { db } = await scope.openStore(dataDir)
  const count = async (text: string) => (await db.first<{ count: number }>(`select count(*) as count ${text}`))?.count
  expect(await count('from events')).toBe(events)
  expect(
    await count('from events e join delivery_attempts a on a.event_id = e.id and a.event_created_at = e.created_at'),
  ).toBe(events)
  expect(await count('from events e join messages m on m.id = e.message_id')).toBe(3 * messages)
  expect(await count('from events e join inbound_messages m on m.id = e.message_id')).toBe(messages)
  expect(await count('from messages m join message_statuses s on s.message_id = m.id')).toBe(3 * messages)
  expect(await count('from messages m join request_log r on r.id = m.request_id')).toBe(messages)
  expect(await count(`from messages m join credit_entries c on c.message_id = m.id and c.kind = 'debit'`)).toBe(
    messages,
  )
  expect(await count('from inbound_messages i join messages m on m.wa_message_id = i.quoted_wa_message_id')).toBe(
    messages,
  )
  expect(await count('from (select distinct tableoid from events) as days')).toBe(30)
  expect(await count(`from pg_inherits where inhparent = 'inbound_messages'::regclass`)).toBe(2)
  expect(await count(`from only inbound_messages where recorded_at < now() - interval '11 days'`)).toBe(0)
  expect(await count('from events where created_at > now()')).toBe(0)
  const sums = await db.first(
    `select (select sum(balance)::float8 from credit_balances) as balance, (select sum(amount)::float8 from credit_entries) as entered,
       (select sum(spent)::float8 from credit_days) as spent, (select sum(succeeded)::float8 from delivery_hours) as attempts`,
  )
  const balance = 3 * grantedCredits - messages
  expect(sums).toEqual({ balance, entered: balance, spent: messages, attempts: events })
})
