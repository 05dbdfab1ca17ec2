import { expect, test } from 'vitest'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace } from '../../testing/workspace.ts'
import { newSecret } from '../domain/keys/secret.ts'

const server = useTestServer()

test('keys, cookies and tokens of a request are neither logged nor in the request log', async () => {
  const workspace = await newWorkspace(server)
  const canary = (name: string) => `canary-of-${name}-31415926`
  const unknown = newSecret()
  const headers = {
    cookie: `parley-session=${canary('cookie')}`,
    'x-api-key': canary('api-key'),
    'proxy-authorization': `Bearer ${canary('proxy')}`,
    'x-hub-signature-256': `sha256=${canary('signature')}`,
  }
  const calls: [path: string, init: RequestInit][] = [
    ['/v1/me', { headers: { ...headers, authorization: `Bearer ${workspace.secret}` } }],
    ['/v1/me', { headers: { ...headers, authorization: `Bearer ${unknown}` } }],
    ['/v1/me', { headers: { ...headers, authorization: `Basic ${canary('basic')}` } }],
    [`/v1/me?access_token=${canary('query')}&api_key=${workspace.secret}`, { headers }],
    [`/network/whatsapp/none?hub.verify_token=${canary('verify')}`, { headers }],
    [
      '/v1/messages',
      {
        method: 'POST',
        headers: { ...headers, authorization: `Bearer ${workspace.secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ token: canary('field'), password: canary('password') }),
      },
    ],
  ]
  for (const [path, init] of calls) await (await fetch(server.url + path, init)).text()
  await server.api.flush()
  const rows = await server.db.rows<{ row: string }>('select r::text as row from request_log r')
  expect(rows.length).toBeGreaterThanOrEqual(2)
  const kept = [...rows.map(({ row }) => row), ...server.logged].join('\n')
  expect([...new Set(kept.match(/canary-of-[a-z-]+/g) ?? [])]).toEqual([])
  for (const secret of [workspace.secret, unknown]) expect(kept.includes(secret)).toBe(false)
})
