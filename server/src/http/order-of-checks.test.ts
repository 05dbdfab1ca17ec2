import type { ErrorCode } from '@parley/contract/errors'
import { expect, test } from 'vitest'
import type { CallOptions } from '../../testing/call.ts'
import { echoRoutes } from '../../testing/echo.ts'
import { useTestServer } from '../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../testing/workspace.ts'
import { changeKey, revokeKey } from '../domain/keys/keys.ts'
import { newSecret } from '../domain/keys/secret.ts'
import { suspendWorkspace } from '../domain/workspaces/workspaces.ts'

const server = useTestServer({ moreRoutes: echoRoutes })

interface Attempt {
  workspace: TestWorkspace
  path: string
  options: CallOptions & { headers: Record<string, string> }
}

/** A change that fails each check, in the order of the checks. It does not affect the other checks. */
const checks: readonly { code: ErrorCode; way: string; fail(attempt: Attempt): unknown }[] = [
  {
    code: 'invalid_key',
    way: 'an unknown key',
    fail: ({ options }) => {
      options.headers.authorization = `Bearer ${newSecret()}`
    },
  },
  {
    code: 'key_revoked',
    way: 'a revoked key',
    fail: ({ workspace: w }) => revokeKey(server.db, server.clock, w.key.id),
  },
  {
    code: 'key_expired',
    way: 'an expired key',
    async fail({ workspace }) {
      await server.db.change(`update api_keys set expires_at = $2 where id = $1`, [
        workspace.key.id,
        server.clock.now(),
      ])
    },
  },
  {
    code: 'workspace_suspended',
    way: 'a suspended workspace',
    fail: ({ workspace: w }) => suspendWorkspace(server.db, server.clock, w.id, 'test'),
  },
  {
    code: 'ip_not_allowed',
    way: 'an address that is not allowed',
    fail: ({ workspace: w }) => changeKey(server.db, server.clock, w.key.id, { allowedRanges: ['192.0.2.1'] }),
  },
  {
    code: 'rate_limited',
    way: 'an exceeded rate limit',
    async fail({ workspace }) {
      await changeKey(server.db, server.clock, workspace.key.id, { rateLimitPerMin: 1 })
      await workspace.call('/v1/me')
    },
  },
  {
    code: 'not_found',
    way: 'an unknown path',
    fail: (attempt) => {
      attempt.path = '/v1/nothing'
    },
  },
  {
    code: 'method_not_allowed',
    way: 'an unsupported method',
    fail: ({ options }) => {
      options.method = 'PUT'
    },
  },
  {
    code: 'insufficient_scope',
    way: 'a missing scope',
    fail: ({ workspace: w }) => changeKey(server.db, server.clock, w.key.id, { scopes: ['senders:read'] }),
  },
  {
    code: 'unsupported_media_type',
    way: 'an unsupported body',
    fail: ({ options }) => {
      options.headers['content-type'] = 'text/plain'
    },
  },
  {
    code: 'payload_too_large',
    way: 'a body of 257 KiB',
    fail: ({ options }) => {
      options.body = `${'x'.repeat(257 * 1024)}`
    },
  },
  {
    code: 'invalid_json',
    way: 'a body that is not JSON',
    fail: ({ options }) => {
      options.body ??= '{"word":'
    },
  },
  {
    code: 'validation_failed',
    way: 'an unknown field',
    fail: ({ options }) => {
      options.body ??= { word: 'a', more: 1 }
    },
  },
]

async function attempt(...changes: ((attempt: Attempt) => unknown)[]): Promise<string> {
  const workspace = await newWorkspace(server)
  const current: Attempt = {
    workspace,
    path: '/v1/echo',
    options: { method: 'POST', headers: { authorization: `Bearer ${workspace.secret}` } },
  }
  for (const fail of changes) await fail(current)
  current.options.body ??= { word: 'a' }
  const { status, body } = await server.call(current.path, current.options)
  return status === 201 ? 'done' : (body as { error: { code: string } }).error.code
}

test('a valid request succeeds', async () => {
  expect(await attempt()).toBe('done')
})

test.each(checks)('$way gets $code', async ({ code, fail }) => {
  expect(await attempt(fail)).toBe(code)
})

const pairs = checks.flatMap((earlier, index) =>
  checks.slice(index + 1).map((later) => ({ earlier, later, title: `${earlier.way} and ${later.way}` })),
)

test.each(
  // An unknown path has no methods, so these two are one check.
  pairs.filter(({ earlier, later }) => !(earlier.code === 'not_found' && later.code === 'method_not_allowed')),
)('$title: the error of the earlier check is returned', async ({ earlier, later }) => {
  expect(await attempt(earlier.fail, later.fail)).toBe(earlier.code)
})
