import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { loggedRequest } from '../../../testing/log.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import type { RequestRecord } from '../../lib/access-check.ts'
import { newUuid } from '../../lib/ids.ts'
import { InvalidKeyRequests, maxPerMinute } from './invalid-key-requests.ts'
import { hintOf, newSecret } from './secret.ts'

const server = useTestServer({ trustProxy: ['127.0.0.1'] })
let lastAddress = 0

/** Each test uses its own IP addresses, because the tests share a database. */
const newAddress = () => `203.0.113.${++lastAddress}`

const callFrom = (address: string, authorization: string, userAgent = 'test') =>
  server.call('/v1/me', { headers: { authorization, 'x-forwarded-for': address, 'user-agent': userAgent } })

/** Uses the key of a workspace from an IP address, and waits until that is recorded. */
async function useKey(workspace: TestWorkspace, address: string): Promise<void> {
  expect((await callFrom(address, `Bearer ${workspace.secret}`)).status).toBe(200)
  await until('the use is recorded', () =>
    server.db.first('select 1 as one from key_usage where workspace_id = $1 and last_used_address = $2::inet', [
      workspace.id,
      address,
    ]),
  )
}

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

test('a request without a valid key is an API error of the workspace whose keys were used from its IP address, if it is the only one', async () => {
  const [ours, neighbours, others] = [
    await newWorkspace(server),
    await newWorkspace(server),
    await newWorkspace(server),
  ]
  const address = newAddress()
  await useKey(ours, address)
  const shared = newAddress()
  await useKey(neighbours, shared)
  await useKey(others, shared)
  for (const authorization of ['Bearer undefined', `Bearer ${newSecret()}`]) {
    await loggedRequest(server, await callFrom(address, authorization))
    await loggedRequest(server, await callFrom(shared, authorization))
  }
  expect(await errorsOf(ours)).toMatchObject({ count: 2, key_count: 0, addresses: [address] })
  for (const workspace of [neighbours, others]) expect(await errorsOf(workspace)).toBeNull()
})

test('a request that matches no key belongs to no workspace, nor does one from an address of 31 days ago', async () => {
  const workspace = await newWorkspace(server)
  const address = newAddress()
  await useKey(workspace, address)
  const unknown = await callFrom(newAddress(), `Bearer ${newSecret()}`)
  expect(await loggedRequest(server, unknown)).toMatchObject({ workspace_id: null, key_id: null, code: 'invalid_key' })
  server.clock.forward({ hours: 31 * 24 })
  const late = await callFrom(address, `Bearer ${newSecret()}`)
  expect(await loggedRequest(server, late)).toMatchObject({ workspace_id: null, code: 'invalid_key' })
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
  const sent = 3 * maxPerMinute
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
  expect(counts.ours + counts.others).toBe(sent)
  // Up to twice as many if a minute ends during the test.
  expect(counts.ours).toBeGreaterThanOrEqual(maxPerMinute)
  expect(counts.ours).toBeLessThanOrEqual(2 * maxPerMinute)
})

test('during a flood, an invalid key that resembles a key of a workspace is still an API error of that workspace', async () => {
  const workspace = await newWorkspace(server)
  const logged: RequestRecord[] = []
  const requests = new InvalidKeyRequests(server.db, (record) => void logged.push(record))
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
  expect(logged).toHaveLength(5_020)
  const caller = expect.objectContaining({ workspaceId: workspace.id, keyId: workspace.key.id })
  expect(logged.filter((each) => each.address === address).map((each) => each.caller)).toEqual(Array(20).fill(caller))
})
