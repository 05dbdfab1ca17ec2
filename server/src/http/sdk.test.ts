import { newClient } from '@parley/sdk/client'
import { expect, test } from 'vitest'
import { useHouse } from '../../testing/house.ts'
import { newWorkspace } from '../../testing/workspace.ts'

const house = useHouse()

test('the client calls the service and turns refusals into errors with a code', async () => {
  const workspace = await newWorkspace(house)
  const client = newClient({ key: workspace.secret, baseUrl: `${house.url}/` })
  expect((await client.me()).account_id).toBe(workspace.id)
  expect(await client.webhooks.list()).toMatchObject({ object: 'list', data: [], total: 0 })
  expect(await client.templates.list({ limit: 1, order: 'asc' })).toMatchObject({ data: [] })
  await expect(client.senders.get('snd_x')).rejects.toMatchObject({ status: 404, code: 'not_found' })
  const stranger = newClient({ key: 'nonsense', baseUrl: house.url })
  await expect(stranger.me()).rejects.toMatchObject({ status: 401, code: 'invalid_key' })
})
