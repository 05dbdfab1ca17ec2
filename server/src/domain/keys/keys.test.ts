import { expect, test } from 'vitest'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'

const server = useTestServer()

test('GET /v1/me returns the workspace, the key and its scopes', async () => {
  const workspace = await newWorkspace(server)
  const { key, secret } = await workspace.newKey({ name: 'shop', scopes: ['webhooks:read'], rateLimitPerMin: 42 })
  const { status, body } = await server.call('/v1/me', { key: secret })
  expect(status).toBe(200)
  expect(body).toEqual({
    account_id: workspace.id,
    key: { id: key.id, name: 'shop', scopes: ['webhooks:read'] },
    rate_limit_per_min: 42,
  })
})
