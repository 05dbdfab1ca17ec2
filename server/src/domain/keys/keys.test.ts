import { expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'

const server = useTestServer()

test('a key says whose it is and what it may do', async () => {
  const workspace = await newWorkspace(server)
  const { key, secret } = await workspace.newKey({ name: 'shop', scopes: ['webhooks:read'], budget: 42 })
  const { status, body } = await server.call('/v1/me', { key: secret })
  expect(status).toBe(200)
  expect(body).toEqual({
    account_id: workspace.id,
    key: { id: key.id, name: 'shop', scopes: ['webhooks:read'] },
    rate_limit_per_min: 42,
  })
})
