import { totalMax } from '@parley/contract/page'
import { expect, test } from 'vitest'
import { useTestServer } from '../../testing/test-server.ts'
import { boundedTotal, tookTooLong, withTimeLimit } from './bounded-total.ts'
import type { Db } from './db.ts'

const server = useTestServer()

const numbers = (count: number) => async (tx: Db, atMost: number) => {
  const counting = 'select count(*)::int as count from (select 1 from generate_series(1, $1::int) limit $2::int) as n'
  return (await tx.first<{ count: number }>(counting, [count, atMost]))?.count ?? 0
}

test('a total is exact up to 10,000, and then says that there are more', async () => {
  expect(await boundedTotal(server.db, numbers(0))).toEqual({ total: 0, total_is_exact: true })
  expect(await boundedTotal(server.db, numbers(totalMax))).toEqual({ total: totalMax, total_is_exact: true })
  expect(await boundedTotal(server.db, numbers(totalMax + 1))).toEqual({ total: totalMax, total_is_exact: false })
  expect(await boundedTotal(server.db, numbers(1_000_000))).toEqual({ total: totalMax, total_is_exact: false })
})

test('a statement that takes too long is ended, and the connection keeps its usual limit', async () => {
  const db = server.db.within('0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d')
  expect(await withTimeLimit(db, 20, (tx) => tx.rows('select pg_sleep(30)'))).toBe(tookTooLong)
  const limits = await Promise.all(
    Array.from({ length: 10 }, () =>
      db.first<{ limit: string }>(`select current_setting('statement_timeout') as limit`),
    ),
  )
  expect(limits.map((row) => row?.limit)).not.toContain('20ms')
})

test('an error that is not the time limit is not hidden', async () => {
  await expect(withTimeLimit(server.db, 1000, (tx) => tx.rows('select 1 / 0'))).rejects.toMatchObject({ code: '22012' })
})
