import { expect, test } from 'vitest'
import { useTestServer } from '../../testing/test-server.ts'

const server = useTestServer()

test('a question is answered the first time and again, and between other statements', async () => {
  const session = await server.db.session()
  try {
    const ask = () => session.ask('both', 'select 1::bigint, null::text')
    expect(await ask()).toEqual(['1', null])
    expect(await ask()).toEqual(['1', null])
    expect(await session.rows('select 2 as two')).toEqual([{ two: 2 }])
    expect(await ask()).toEqual(['1', null])
    expect(await session.ask('none', 'select 1 where false')).toBeUndefined()
  } finally {
    await session.close()
  }
})

test('one that PostgreSQL refuses fails, and the session goes on', async () => {
  const session = await server.db.session()
  for (let time = 0; time < 2; time++) {
    await expect(session.ask('broken', 'select nothing')).rejects.toMatchObject({ code: '42703' })
  }
  expect(await session.rows('select 1 as one')).toEqual([{ one: 1 }])
  await session.close()
  await expect(session.ask('late', 'select 1')).rejects.toThrow()
})
