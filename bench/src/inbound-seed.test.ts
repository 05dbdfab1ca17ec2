import { moveLimits } from '@parley/server/domain/messages/receiving/older-messages'
import { expect, onTestFinished, test } from 'vitest'
import { newDataDir } from '../../server/testing/prepared-data-dir.ts'
import { tempFolder } from '../../server/testing/temp-folder.ts'
import { seedInbound } from './inbound-seed.ts'
import { prepare } from './lib/prepare.ts'
import { Scope } from './lib/scope.ts'

test('inbound messages are stored in the tables of their age, in the order of time, and are counted in blocks', async () => {
  const dataDir = newDataDir(tempFolder())
  const scope = new Scope(() => {})
  onTestFinished(() => scope.end())
  const { workspaces } = await prepare(dataDir, { hookUrls: [null] })
  const { id: workspaceId, senderId } = workspaces[0] ?? { id: '', senderId: '' }
  const limits = { ...moveLimits, recentBytes: 0, olderBytes: 2_000_000 }
  await seedInbound(scope, dataDir, { workspaceId, senders: [senderId] }, 12_000, limits)
  const { db } = await scope.openStore(dataDir)
  const first = (text: string) => db.first<Record<string, unknown>>(text)
  expect(await first('select count(*)::int as count, count(distinct id)::int as ids from inbound_messages')).toEqual({
    count: 12_000,
    ids: 12_000,
  })
  expect(await first('select count(*)::int as count from only inbound_messages')).toEqual({ count: 4_000 })
  expect(await first('select count(distinct tableoid)::int as count from inbound_messages')).toEqual({ count: 3 })
  expect(
    await first(`select count(*)::int as count from (
      select recorded_at < lag(recorded_at) over (order by id) as back from inbound_messages) as m where back`),
  ).toEqual({ count: 0 })
  const counted = await first(
    `select sum(messages)::int as count from inbound_blocks where sender_id = '00000000-0000-0000-0000-000000000000' and type = ''`,
  )
  expect(counted).toEqual({ count: 10_000 })
})
