import { isDeepStrictEqual } from 'node:util'
import type { Message } from '@parley/contract/message'
import { expect, test } from 'vitest'
import { FakeClock } from '../../../../testing/fake-clock.ts'
import { ledgerOf } from '../../../../testing/ledger.ts'
import { newProcessShop } from '../../../../testing/shop-process.ts'
import { until } from '../../../../testing/until.ts'
import { newLogger } from '../../../telemetry/logger.ts'
import { newNetwork } from '../../connections/network.ts'
import { verifyLedger } from '../../credits/verify-ledger.ts'
import { newOutbox } from './outbox.ts'

const log = newLogger('silent')
async function setUp() {
  const shop = await newProcessShop()
  const { parts, control } = shop
  return {
    ...shop,
    /** Runs the outbox with a clock that is `ms` ahead. */
    async drainLater(ms: number) {
      const clock = new FakeClock(new Date(Date.now() + ms))
      await newOutbox(newNetwork({ ...parts, clock }), log).drain()
      await control.idle()
    },
  }
}

test('after kill -9 while sending, each message was sent once, or it failed and was refunded', async () => {
  const { db, control, start, spawn, sendText, drainLater, workspaceId } = await setUp()
  const accepted = new Map<string, string>()
  const sessions = () =>
    db.rows<{ pid: number }>('select pid from pg_stat_activity where datname = current_database() order by pid')
  const ownSessions = await sessions()
  const killed = await spawn()
  const sends = Array.from({ length: 20 }, async (_, n) => {
    const to = String(16_505_550_100 + n)
    const { status, body: message } = await sendText(killed, to)
    if (status === 202) accepted.set((message as Message).id, to)
  })
  await Promise.race(sends)
  // Some calls to the network, which take 60 ms, are made, and some have ended.
  await new Promise((resolve) => setTimeout(resolve, 60))
  killed.child.kill('SIGKILL')
  await Promise.allSettled(sends)
  // Until then, PostgreSQL may still run and commit a statement of the killed process.
  await until('PostgreSQL has ended the sessions of the killed process', async () =>
    isDeepStrictEqual(await sessions(), ownSessions),
  )
  // It receives the statuses. Only the outboxes below send.
  await start({ PARLEY_ROLE: 'api' })
  await control.idle()
  const messages = () =>
    db.rows<{ id: string; recipient: string; status: string }>(
      'select id, recipient, status from messages where workspace_id = $1',
      [workspaceId],
    )
  const sentTo = (phone: string) => control.phones.messages(phone).filter(({ direction }) => direction === 'out').length
  // Every claim has expired by then. At one time, a sender may send only a burst of eight.
  let minutes = 2
  do await drainLater(minutes++ * 60_000)
  while (await db.first(`select from outbox where state = 'waiting'`))
  await until('the network has reported all statuses', async () =>
    (await messages()).every(({ recipient, status }) => sentTo(recipient) === 0 || status === 'read'),
  )
  for (const hours of [2, 4]) await drainLater(hours * 3_600_000)

  const rows = await messages()
  expect(accepted.size).toBeGreaterThan(0)
  for (const id of accepted.keys()) expect(rows.map((row) => `msg_${row.id}`)).toContain(id)
  for (const { recipient, status } of rows) {
    const count = sentTo(recipient)
    expect([status, count]).toEqual(count === 1 ? ['read', 1] : ['failed', 0])
  }
  const kinds = Map.groupBy(await ledgerOf(db, workspaceId), ({ kind }) => kind)
  expect(kinds.get('debit')).toHaveLength(rows.length)
  expect(kinds.get('refund') ?? []).toHaveLength(rows.filter(({ status }) => status === 'failed').length)
  expect(await verifyLedger(db, log)).toEqual([])
  expect(await db.rows('select 1 from outbox')).toEqual([])
})
