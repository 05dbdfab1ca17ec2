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
const thrice = (word: string) => Array(processes.count).fill(word)

/** A key whose budget of 3 is used up, known to every process. */
async function exhausted() {
  const workspace = await newWorkspace(server)
  const { key, secret } = await workspace.newKey({ budget: 3 })
  const everywhere = async (path = '/v1/me') => (await processes.everywhere(path, { key: secret })).map(outcome)
  expect(await everywhere()).toEqual(thrice('ok'))
  expect(await everywhere()).toEqual(thrice('rate_limited'))
  expect(await everywhere()).toEqual(thrice('rate_limited'))
  return { workspace, key, secret, everywhere }
}

/** A key with budget to spare that every process has seen. */
async function busy() {
  const workspace = await newWorkspace(server)
  const everywhere = async (path = '/v1/webhook') =>
    (await processes.everywhere(path, { key: workspace.secret })).map(outcome)
  expect(await everywhere()).toEqual(thrice('ok'))
  return { workspace, key: workspace.key, everywhere }
}

for (const [state, make] of [
  ['in use', busy],
  ['out of budget', exhausted],
] as const) {
  test(`a key ${state} that is revoked is refused by the next request in every process`, async () => {
    const { key, everywhere } = await make()
    await revokeKey(server.db, server.clock, key.id)
    expect(await everywhere()).toEqual(thrice('key_revoked'))
  })

  test(`a key ${state} whose workspace is suspended is refused, and is back when it is resumed`, async () => {
    const { workspace, everywhere } = await make()
    const before = await everywhere()
    await suspendWorkspace(server.db, server.clock, workspace.id, 'test')
    expect(await everywhere()).toEqual(thrice('workspace_suspended'))
    await resumeWorkspace(server.db, workspace.id)
    expect(await everywhere()).toEqual(before)
  })

  test(`a key ${state} that is bound to other addresses is refused at once, and let in again`, async () => {
    const { key, everywhere } = await make()
    const before = await everywhere()
    await changeKey(server.db, server.clock, key.id, { allowedRanges: ['192.0.2.0/24'] })
    expect(await everywhere()).toEqual(thrice('ip_not_allowed'))
    await changeKey(server.db, server.clock, key.id, { allowedRanges: ['192.0.2.0/24', '127.0.0.0/8'] })
    expect(await everywhere()).toEqual(before)
  })

  test(`a key ${state} that is given an expiry ends at it`, async () => {
    const { key, everywhere } = await make()
    const before = await everywhere()
    await changeKey(server.db, server.clock, key.id, { expiresAt: new Date(server.clock.now().getTime() + 1000) })
    expect(await everywhere()).toEqual(before)
    server.clock.forward({ seconds: 1 })
    expect(await everywhere()).toEqual(thrice('key_expired'))
  })
}

test('a scope that is taken away or granted counts from the next request', async () => {
  const { key, everywhere } = await busy()
  await changeKey(server.db, server.clock, key.id, { scopes: ['senders:read'] })
  expect(await everywhere()).toEqual(thrice('insufficient_scope'))
  await changeKey(server.db, server.clock, key.id, { scopes: ['webhooks:read'] })
  expect(await everywhere()).toEqual(thrice('ok'))
})

test('a raised budget lets the next requests through in the same window, in every process', async () => {
  const { key, secret, everywhere } = await exhausted()
  await changeKey(server.db, server.clock, key.id, { budget: 7 })
  const responses = await processes.everywhere('/v1/me', { key: secret })
  expect(responses.map(outcome)).toEqual(thrice('ok'))
  expect(responses.map(({ headers }) => headers.get('ratelimit-limit'))).toEqual(thrice('7'))
  expect(responses.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['3', '2', '1'])
  expect(await everywhere()).toEqual(['ok', 'rate_limited', 'rate_limited'])
})

test('a lowered budget refuses what is beyond it at once, and keeps the window', async () => {
  const { workspace, key } = await busy()
  server.clock.forward({ seconds: 30 })
  await changeKey(server.db, server.clock, key.id, { budget: 4 })
  const responses = await processes.everywhere('/v1/me', { key: workspace.secret })
  expect(responses.map(outcome)).toEqual(['ok', 'rate_limited', 'rate_limited'])
  expect(responses.map(({ headers }) => headers.get('ratelimit-limit'))).toEqual(thrice('4'))
  expect(responses.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(thrice('0'))
  expect(responses.map(({ headers }) => headers.get('ratelimit-reset'))).toEqual(thrice('30'))
  await changeKey(server.db, server.clock, key.id, { budget: 1 })
  expect((await processes.everywhere('/v1/me', { key: workspace.secret })).map(outcome)).toEqual(thrice('rate_limited'))
})

test('/v1/me tells the new name, scopes and budget at once', async () => {
  const { workspace, key } = await busy()
  await changeKey(server.db, server.clock, key.id, { name: 'renamed', scopes: [], budget: 99 })
  for (const { body } of await processes.everywhere('/v1/me', { key: workspace.secret })) {
    expect(body).toMatchObject({ key: { name: 'renamed', scopes: [] }, rate_limit_per_min: 99 })
  }
})

test('keys that change all the time do not hold up requests with others', async () => {
  const { workspace, key } = await busy()
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
