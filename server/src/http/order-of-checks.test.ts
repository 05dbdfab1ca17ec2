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

/** Ways to fail each check, in the order in which the checks are made. Each leaves the others as they are. */
const checks: readonly { code: ErrorCode; way: string; spoil(attempt: Attempt): unknown }[] = [
  {
    code: 'invalid_key',
    way: 'an unknown key',
    spoil: ({ options }) => {
      options.headers.authorization = `Bearer ${newSecret()}`
    },
  },
  {
    code: 'key_revoked',
    way: 'a revoked key',
    spoil: ({ workspace: w }) => revokeKey(server.db, server.clock, w.key.id),
  },
  {
    code: 'key_expired',
    way: 'an expired key',
    async spoil({ workspace }) {
      await server.db.change(`update api_keys set expires_at = $2 where id = $1`, [
        workspace.key.id,
        server.clock.now(),
      ])
    },
  },
  {
    code: 'workspace_suspended',
    way: 'a suspended workspace',
    spoil: ({ workspace: w }) => suspendWorkspace(server.db, server.clock, w.id, 'test'),
  },
  {
    code: 'ip_not_allowed',
    way: 'a foreign address',
    spoil: ({ workspace: w }) => changeKey(server.db, server.clock, w.key.id, { allowedRanges: ['192.0.2.1'] }),
  },
  {
    code: 'rate_limited',
    way: 'no budget left',
    async spoil({ workspace }) {
      await changeKey(server.db, server.clock, workspace.key.id, { budget: 1 })
      await workspace.call('/v1/me')
    },
  },
  {
    code: 'not_found',
    way: 'no such path',
    spoil: (attempt) => {
      attempt.path = '/v1/nothing'
    },
  },
  {
    code: 'method_not_allowed',
    way: 'a method it does not take',
    spoil: ({ options }) => {
      options.method = 'PUT'
    },
  },
  {
    code: 'insufficient_scope',
    way: 'a missing scope',
    spoil: ({ workspace: w }) => changeKey(server.db, server.clock, w.key.id, { scopes: ['senders:read'] }),
  },
  {
    code: 'unsupported_media_type',
    way: 'another kind of body',
    spoil: ({ options }) => {
      options.headers['content-type'] = 'text/plain'
    },
  },
  {
    code: 'payload_too_large',
    way: 'a body of 257 KiB',
    spoil: ({ options }) => {
      options.body = `${'x'.repeat(257 * 1024)}`
    },
  },
  {
    code: 'invalid_json',
    way: 'a body that is not JSON',
    spoil: ({ options }) => {
      options.body ??= '{"word":'
    },
  },
  {
    code: 'validation_failed',
    way: 'an unknown field',
    spoil: ({ options }) => {
      options.body ??= { word: 'a', more: 1 }
    },
  },
]

async function attempt(...spoilers: ((attempt: Attempt) => unknown)[]): Promise<string> {
  const workspace = await newWorkspace(server)
  const tried: Attempt = {
    workspace,
    path: '/v1/echo',
    options: { method: 'POST', headers: { authorization: `Bearer ${workspace.secret}` } },
  }
  for (const spoil of spoilers) await spoil(tried)
  tried.options.body ??= { word: 'a' }
  const { status, body } = await server.call(tried.path, tried.options)
  return status === 201 ? 'done' : (body as { error: { code: string } }).error.code
}

test('with nothing amiss the request is done', async () => {
  expect(await attempt()).toBe('done')
})

test.each(checks)('$way alone is $code', async ({ code, spoil }) => {
  expect(await attempt(spoil)).toBe(code)
})

const pairs = checks.flatMap((earlier, index) =>
  checks.slice(index + 1).map((later) => ({ earlier, later, title: `${earlier.way} and ${later.way}` })),
)

test.each(
  // A path that is none takes no method at all: the two are one check.
  pairs.filter(({ earlier, later }) => !(earlier.code === 'not_found' && later.code === 'method_not_allowed')),
)('$title: the earlier check answers', async ({ earlier, later }) => {
  expect(await attempt(earlier.spoil, later.spoil)).toBe(earlier.code)
})
