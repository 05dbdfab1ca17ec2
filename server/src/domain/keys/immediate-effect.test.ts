import { expect, test } from 'vitest'
import type { ApiResponse } from '../../../testing/call.ts'
import { useProcesses } from '../../../testing/processes.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { resumeWorkspace, suspendWorkspace } from '../workspaces/workspaces.ts'
import { changeKey, revokeKey } from './keys.ts'

const server = useTestServer()
const processes = useProcesses(server)

const outcome = ({ status, body }: ApiResponse) =>
  status === 200 ? 'ok' : (body as { error: { code: string } }).error.code
const fromAll = (result: string) => Array(processes.count).fill(result)

/** A key that has used up its rate limit of 3 requests and is cached in every process. */
async function exhausted() {
  const workspace = await newWorkspace(server)
  const { key, secret } = await workspace.newKey({ rateLimitPerMin: 3 })
  const everywhere = async (path = '/v1/me') => (await processes.everywhere(path, { key: secret })).map(outcome)
  expect(await everywhere()).toEqual(fromAll('ok'))
  expect(await everywhere()).toEqual(fromAll('rate_limited'))
  expect(await everywhere()).toEqual(fromAll('rate_limited'))
  return { workspace, key, secret, everywhere }
}

/** A key within its rate limit that is cached in every process. */
async function withinLimit() {
  const workspace = await newWorkspace(server)
  const everywhere = async (path = '/v1/webhook') =>
    (await processes.everywhere(path, { key: workspace.secret })).map(outcome)
  expect(await everywhere()).toEqual(fromAll('ok'))
  return { workspace, key: workspace.key, everywhere }
}

for (const [state, make] of [
  ['within its rate limit', withinLimit],
  ['over its rate limit', exhausted],
] as const) {
  test(`a revoked key ${state} gets key_revoked on the next request in every process`, async () => {
    const { key, everywhere } = await make()
    await revokeKey(server.db, server.clock, key.id)
    expect(await everywhere()).toEqual(fromAll('key_revoked'))
  })

  test(`a key ${state} gets workspace_suspended while its workspace is suspended`, async () => {
    const { workspace, everywhere } = await make()
    const before = await everywhere()
    await suspendWorkspace(server.db, server.clock, workspace.id, 'test')
    expect(await everywhere()).toEqual(fromAll('workspace_suspended'))
    await resumeWorkspace(server.db, workspace.id)
    expect(await everywhere()).toEqual(before)
  })

  test(`a changed IP allowlist of a key ${state} takes effect on the next request`, async () => {
    const { key, everywhere } = await make()
    const before = await everywhere()
    await changeKey(server.db, server.clock, key.id, { allowedRanges: ['192.0.2.0/24'] })
    expect(await everywhere()).toEqual(fromAll('ip_not_allowed'))
    await changeKey(server.db, server.clock, key.id, { allowedRanges: ['192.0.2.0/24', '127.0.0.0/8'] })
    expect(await everywhere()).toEqual(before)
  })

  test(`a key ${state} stops working at an expiry that was added later`, async () => {
    const { key, everywhere } = await make()
    const before = await everywhere()
    await changeKey(server.db, server.clock, key.id, { expiresAt: new Date(server.clock.now().getTime() + 1000) })
    expect(await everywhere()).toEqual(before)
    server.clock.forward({ seconds: 1 })
    expect(await everywhere()).toEqual(fromAll('key_expired'))
  })
}

test('a removed or added scope takes effect on the next request', async () => {
  const { key, everywhere } = await withinLimit()
  await changeKey(server.db, server.clock, key.id, { scopes: ['senders:read'] })
  expect(await everywhere()).toEqual(fromAll('insufficient_scope'))
  await changeKey(server.db, server.clock, key.id, { scopes: ['webhooks:read'] })
  expect(await everywhere()).toEqual(fromAll('ok'))
})

test('a raised rate limit allows more requests in the same window, in every process', async () => {
  const { key, secret, everywhere } = await exhausted()
  await changeKey(server.db, server.clock, key.id, { rateLimitPerMin: 7 })
  const responses = await processes.everywhere('/v1/me', { key: secret })
  expect(responses.map(outcome)).toEqual(fromAll('ok'))
  expect(responses.map(({ headers }) => headers.get('ratelimit-limit'))).toEqual(fromAll('7'))
  expect(responses.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['3', '2', '1'])
  expect(await everywhere()).toEqual(['ok', 'rate_limited', 'rate_limited'])
})

test('a lowered rate limit takes effect on the next request and keeps the window', async () => {
  const { workspace, key } = await withinLimit()
  server.clock.forward({ seconds: 30 })
  await changeKey(server.db, server.clock, key.id, { rateLimitPerMin: 4 })
  const responses = await processes.everywhere('/v1/me', { key: workspace.secret })
  expect(responses.map(outcome)).toEqual(['ok', 'rate_limited', 'rate_limited'])
  expect(responses.map(({ headers }) => headers.get('ratelimit-limit'))).toEqual(fromAll('4'))
  expect(responses.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(fromAll('0'))
  expect(responses.map(({ headers }) => headers.get('ratelimit-reset'))).toEqual(fromAll('30'))
  await changeKey(server.db, server.clock, key.id, { rateLimitPerMin: 1 })
  expect((await processes.everywhere('/v1/me', { key: workspace.secret })).map(outcome)).toEqual(
    fromAll('rate_limited'),
  )
})

test('GET /v1/me returns the new name, scopes and rate limit on the next request', async () => {
  const { workspace, key } = await withinLimit()
  await changeKey(server.db, server.clock, key.id, { name: 'renamed', scopes: [], rateLimitPerMin: 99 })
  for (const { body } of await processes.everywhere('/v1/me', { key: workspace.secret })) {
    expect(body).toMatchObject({ key: { name: 'renamed', scopes: [] }, rate_limit_per_min: 99 })
  }
})

test('a key that changes constantly does not block requests with other keys', async () => {
  const { workspace, key } = await withinLimit()
  let changing = true
  const changes = (async () => {
    for (let round = 0; changing; round++) {
      await changeKey(server.db, server.clock, key.id, { name: `round ${round}` })
    }
  })()
  const { secret } = await workspace.newKey()
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, index) => processes.call(index, '/v1/me', { key: secret })),
  )
  changing = false
  await changes
  expect(responses.map(outcome)).toEqual(Array(60).fill('ok'))
})
