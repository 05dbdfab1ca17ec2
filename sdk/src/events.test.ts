import { expect, test } from 'vitest'
import { newLine } from '../../server/testing/deliveries.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { newClient } from './client.ts'

const server = useTestServer()

test('events are read page by page, by type, and followed as they come', async () => {
  const { workspace, write } = await newLine(server)
  const { events } = newClient({ key: workspace.secret, baseUrl: server.url })
  await write(3)
  const first = await events.read({ limit: 2 })
  expect(first).toMatchObject({ object: 'list', data: [{ type: 'message.received' }, {}], has_more: true })
  expect((await events.read({ after: first.next_cursor })).data).toHaveLength(1)
  expect((await events.read({ type: ['message.sent', 'message.read'] })).data).toEqual([])
  expect((await events.read({ type: 'message.received' })).data).toHaveLength(3)
  const stop = new AbortController()
  const followed: string[] = []
  const following = (async () => {
    for await (const { data } of events.follow({ after: first.next_cursor }, { signal: stop.signal })) {
      followed.push(...data.map(({ id }) => id))
      if (followed.length === 1) await write(2)
      if (followed.length === 3) stop.abort(new Error('enough'))
    }
  })()
  await expect(following).rejects.toThrow('enough')
  expect(new Set(followed).size).toBe(3)
})
