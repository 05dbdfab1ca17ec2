import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { loggedRequest } from '../../../testing/log.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { invalidKeysPerMinute, RequestRecorder } from '../requests/recorder.ts'
import { hintOf, newSecret } from './secret.ts'
import { recordedKeys } from './uses.ts'

const server = useTestServer({ trustProxy: ['127.0.0.1'] })
let lastAddress = 0

/** Each test uses its own IP addresses, because the tests share a database. */
const newAddress = () => `203.0.113.${++lastAddress}`

const callFrom = (address: string, authorization: string, userAgent = 'test') =>
  server.call('/v1/me', { headers: { authorization, 'x-forwarded-for': address, 'user-agent': userAgent } })

async function errorsOf(workspace: TestWorkspace) {
  const developer = await signedIn(server, { workspaceId: workspace.id, role: 'developer' })
  const path = `/w/${workspace.id}/refusals`
  const { body: groups } = await developer.call(path)
  if (!groups.data.some(({ code }: { code: string }) => code === 'invalid_key')) return null
  return (await developer.call(`${path}/invalid_key`)).body
}

/** The secret with another character in the middle, so that its checksum is wrong. */
const mistyped = (secret: string) => secret.slice(0, 20) + (secret[20] === 'x' ? 'y' : 'x') + secret.slice(21)

test.each<[label: string, change: (secret: string) => string]>([
  ['a mistyped character', (secret) => `Bearer ${mistyped(secret)}`],
  ['a missing checksum', (secret) => `Bearer ${secret.slice(0, -6)}`],
  ['a character too many', (secret) => `Bearer ${secret}x`],
  ['no Bearer', (secret) => secret],
])(
  'an invalid key that resembles a key of a workspace is an API error of that workspace: %s',
  async (_label, change) => {
    const workspace = await newWorkspace(server)
    const response = await callFrom(newAddress(), change(workspace.secret))
    expect(response.status).toBe(401)
    expect(await loggedRequest(server, response)).toMatchObject({
      workspace_id: workspace.id,
      key_id: workspace.key.id,
    })
    const found = await errorsOf(workspace)
    expect(found).toMatchObject({ count: 1, by_key: [{ key: { id: workspace.key.id }, count: 1 }] })
    // The hint of the key is all that is shown.
    const presented = change(workspace.secret)
    const random = presented.indexOf('prl_live_') + 9
    for (let start = random + 1; start < random + 26; start++) {
      expect(JSON.stringify(found)).not.toContain(presented.slice(start, start + 6))
    }
  },
)

test('an invalid key that resembles a key is no request of that key', async () => {
  const workspace = await newWorkspace(server)
  await loggedRequest(server, await callFrom(newAddress(), `Bearer ${mistyped(workspace.secret)}`))
  expect(await errorsOf(workspace)).toMatchObject({ count: 1 })
  const developer = await signedIn(server, { workspaceId: workspace.id, role: 'developer' })
  const [key] = (await developer.call(`/w/${workspace.id}/keys`)).body.data
  expect(key).toMatchObject({ id: workspace.key.id, requests_by_day: { refused: Array(7).fill(0) } })
})

test('a request that matches no key belongs to no workspace, even from an address that uses the keys of one', async () => {
  const workspace = await newWorkspace(server)
  const address = newAddress()
  expect((await callFrom(address, `Bearer ${workspace.secret}`)).status).toBe(200)
  for (const authorization of ['Bearer undefined', `Bearer ${newSecret()}`]) {
    const refused = await callFrom(address, authorization)
    expect(await loggedRequest(server, refused)).toMatchObject({
      ...{ workspace_id: null, key_id: null, code: 'invalid_key' },
    })
  }
  expect(await errorsOf(workspace)).toBeNull()
})

test('an invalid key that resembles a key gets the same response as any other', async () => {
  const workspace = await newWorkspace(server)
  const address = newAddress()
  const responses = []
  for (const key of [mistyped(workspace.secret), newSecret(), 'nonsense']) {
    const { status, body, headers } = await callFrom(address, `Bearer ${key}`)
    const compared = [...headers].filter(([name]) => !/^(x-request-id|date|ratelimit-remaining)$/.test(name))
    responses.push(JSON.stringify([status, body, compared]).replaceAll(/req_[0-9a-f-]+/g, 'req_'))
  }
  expect(new Set(responses).size).toBe(1)
})

test('a workspace gets at most 60 of them per minute, and all others are counted without a workspace', async () => {
  const workspace = await newWorkspace(server)
  const sent = 3 * invalidKeysPerMinute
  const address = newAddress()
  await Promise.all(Array.from({ length: sent }, () => callFrom(address, `Bearer ${mistyped(workspace.secret)}`)))
  const counts = await until('all are logged or counted', async () => {
    const [found] = await server.db.rows<{ ours: number; others: number }>(
      `select (select count(*) from request_log where workspace_id = $1) as ours,
         (select coalesce(sum(count), 0)::bigint from unauthenticated_minutes where client = $2) as others`,
      [workspace.id, address],
    )
    return found && found.ours + found.others >= sent && found
  })
  expect(counts).toEqual({ ours: invalidKeysPerMinute, others: sent - invalidKeysPerMinute })
})

test('during a flood, an invalid key that resembles a key of a workspace is still an API error of that workspace', async () => {
  const workspace = await newWorkspace(server)
  const requests = new RequestRecorder(server.db, newLogger('silent'), recordedKeys)
  const record = (address: string, secret: string) =>
    requests.record({
      ...{ id: newUuid(), at: server.clock.now(), caller: null, method: 'GET', route: '/v1/me', status: 401 },
      ...{ code: 'invalid_key', durationUs: 1, address, userAgent: null, keyHint: hintOf(secret) },
    })
  // More than may wait, before the next ones are matched.
  const secrets = Array.from({ length: 100 }, newSecret)
  for (let n = 0; n < 5_000; n++) record(`198.51.100.${n % 16}`, secrets[n % 100] ?? '')
  const address = newAddress()
  for (let n = 0; n < 20; n++) record(address, mistyped(workspace.secret))
  await requests.stop()
  const logged = await server.db.rows('select workspace_id, key_id from request_log where address = $1', [address])
  expect(logged).toEqual(Array(20).fill({ workspace_id: workspace.id, key_id: workspace.key.id }))
})
