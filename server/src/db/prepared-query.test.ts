import { expect, test } from 'vitest'
import { useTestServer } from '../../testing/test-server.ts'

const server = useTestServer()

test('a prepared query returns its row on every run, also between other statements', async () => {
  const session = await server.db.session()
  try {
    const run = () => session.queryRow('both', 'select 1::bigint, null::text')
    expect(await run()).toEqual(['1', null])
    expect(await run()).toEqual(['1', null])
    expect(await session.rows('select 2 as two')).toEqual([{ two: 2 }])
    expect(await run()).toEqual(['1', null])
    expect(await session.queryRow('none', 'select 1 where false')).toBeUndefined()
  } finally {
    await session.close()
  }
})

test('a query that PostgreSQL rejects fails, and the session stays usable', async () => {
  const session = await server.db.session()
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(session.queryRow('broken', 'select nothing')).rejects.toMatchObject({ code: '42703' })
  }
  expect(await session.rows('select 1 as one')).toEqual([{ one: 1 }])
  await session.close()
  await expect(session.queryRow('late', 'select 1')).rejects.toThrow()
})
