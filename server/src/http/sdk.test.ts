import { Parley } from '@parley/sdk/client'
import { expect, test } from 'vitest'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace } from '../../testing/workspace.ts'

const server = useTestServer()

test('the SDK client calls the service and throws errors with the code', async () => {
  const workspace = await newWorkspace(server)
  const client = new Parley({ key: workspace.secret, baseUrl: `${server.url}/` })
  expect((await client.me()).account_id).toBe(workspace.id)
  expect(await client.webhooks.list()).toMatchObject({ object: 'list', data: [], total: 0 })
  expect(await client.templates.list({ limit: 1, order: 'asc' })).toMatchObject({ data: [] })
  await expect(client.senders.get('snd_x')).rejects.toMatchObject({ status: 404, code: 'not_found' })
  const unauthorized = new Parley({ key: 'nonsense', baseUrl: server.url })
  await expect(unauthorized.me()).rejects.toMatchObject({ status: 401, code: 'invalid_key' })
})
