import type { Role } from '@parley/contract/console/permissions'
import { expect, test, vi } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import type { Db } from '../../db/db.ts'
import { giveCredits } from '../credits/credits.ts'
import { addSteps, countSteps, percentileMs } from '../deliveries/engine/attempt/durations.ts'
import { disableWebhook } from '../webhooks/webhooks.ts'
import { listProblems, risingCodes } from './problems.ts'

const server = useTestServer()
useDeliveryWorker(server)
const sending = useSending(server)
const newReceiver = useReceivers()

const read = async (workspaceId: string, path: string, role: Role = 'admin') =>
  (await signedIn(server, { workspaceId, role })).call(`/w/${workspaceId}${path}`)

const sum = (counts: number[]) => counts.reduce((all, count) => all + count, 0)

test.each(['/overview', '/overview/before', '/problems', '/onboarding', '/find?q=abc'])(
  '%s is for all members of the workspace',
  async (path) => {
    const workspace = await newWorkspace(server)
    for (const role of ['admin', 'developer', 'member'] as const) {
      expect((await read(workspace.id, path, role)).status, role).toBe(200)
    }
    const stranger = await signedIn(server, { workspaceId: (await newWorkspace(server)).id, role: 'admin' })
    expect((await stranger.call(`/w/${workspace.id}${path}`)).status).toBe(404)
  },
)

test('messages are counted by current status, in the time bucket they were accepted in', async () => {
  const shop = await sending.newShop()
  const before = (await read(shop.workspace.id, '/overview')).body
  expect(sum(before.messages.queued)).toBe(0)
  await shop.sendText('+16505550123')
  server.clock.forward({ hours: 2 })
  await shop.sendText('+16505550124')
  const { body } = await read(shop.workspace.id, '/overview')
  expect(body.steps).toHaveLength(24)
  expect(body.messages.queued.slice(-3)).toEqual([1, 0, 1])
  expect(body.credits).toEqual({ balance: 98, spent: 2, low_balance: 100, low: true })
  await sending.drain()
  const after = (await read(shop.workspace.id, '/overview')).body.messages
  expect(sum(after.queued)).toBe(0)
  expect(sum([...after.sent, ...after.delivered, ...after.read])).toBe(2)
  for (const [period, steps, hours] of [
    ['7d', 28, 6],
    ['30d', 30, 24],
  ] as const) {
    const longer = (await read(shop.workspace.id, `/overview?period=${period}`)).body
    expect(longer).toMatchObject({ period, step_hours: hours })
    expect(longer.steps).toHaveLength(steps)
    expect(longer.credits.spent).toBe(2)
  }
  expect((await read(shop.workspace.id, '/overview?period=1y')).status).toBe(400)
})

test('spent credits are summed over the period, in full and partial days', async () => {
  const shop = await sending.newShop()
  const spent = async (period: string) =>
    (await read(shop.workspace.id, `/overview?period=${period}`)).body.credits.spent
  // Each message is on a different day than the one before, at any start time; hours of the previous day count too.
  for (const hours of [0, 120, 20, 15]) {
    server.clock.forward({ hours })
    await shop.sendText('+16505550123')
  }
  expect([await spent('24h'), await spent('7d'), await spent('30d')]).toEqual([2, 4, 4])
  server.clock.forward({ hours: 8 })
  expect(await spent('24h')).toBe(2)
  server.clock.forward({ hours: 20 })
  expect([await spent('24h'), await spent('7d'), await spent('30d')]).toEqual([0, 3, 4])
  await server.passDays(0)
})

test('the period before has the same steps, shifted by the period, and the credits up to the same moment', async () => {
  const shop = await sending.newShop()
  const { id } = shop.workspace
  const spentAt = new Date(Math.ceil(server.clock.now().getTime() / 86_400_000) * 86_400_000 + 10.5 * 3_600_000)
  server.clock.forward({ hours: (spentAt.getTime() - server.clock.now().getTime()) / 3_600_000 })
  await shop.sendText('+16505550123')
  // 23 hours later than the first message, of which the period before has what was spent by this time of that day.
  server.clock.forward({ hours: 23 })
  await shop.sendText('+16505550124')
  const before = async (period = '24h') => (await read(id, `/overview/before?period=${period}`)).body
  expect(await before()).toMatchObject({ credits: { spent: 0 } })
  server.clock.forward({ hours: 1.25 })
  const [now, then] = [(await read(id, '/overview')).body, await before()]
  expect(Date.parse(now.from) - Date.parse(then.from)).toBe(86_400_000)
  expect(then.to).toBe(now.from)
  expect([sum(now.messages.queued), sum(then.messages.queued)]).toEqual([1, 1])
  expect([now.credits.spent, then.credits.spent]).toEqual([1, 1])
  // Requests and deliveries are stored for 30 days, which is less than two periods.
  expect(await before('7d')).toMatchObject({ requests: {}, deliveries: {} })
  expect(await before('30d')).toMatchObject({ requests: null, deliveries: null, messages: {} })
  expect((await read(id, '/overview/before', 'member')).body).toMatchObject({ credits: null, endpoints: null })
  await server.passDays(0)
})

test('endpoints are counted by health, as the list of webhooks shows it', async () => {
  const line = await newLine(server)
  const receiver = await newReceiver()
  const [failing, disabled] = [await line.listen(receiver), await line.listen(receiver), await line.listen(receiver)]
  await server.db.change('update webhooks set failures = 3 where id = $1', [failing.id.replace('whk_', '')])
  await disableWebhook(server.db, server.clock, disabled.id, 'Under repair.')
  const { endpoints } = (await read(line.workspace.id, '/overview')).body
  expect(endpoints).toEqual({ healthy: 1, failing: 1, disabled: 1 })
  const { data } = (await read(line.workspace.id, '/webhooks')).body
  expect(data.map(({ state }: { state: string }) => state).sort()).toEqual(['disabled', 'enabled', 'failing'])
  const other = await newWorkspace(server)
  expect((await read(other.id, '/overview')).body.endpoints).toEqual({ healthy: 0, failing: 0, disabled: 0 })
})

test('a workspace is new until it has 10 messages, in and out together', async () => {
  const line = await newLine(server)
  const isNew = async () => (await read(line.workspace.id, '/onboarding')).body.is_new
  expect(await isNew()).toBe(true)
  await line.write(9)
  expect(await isNew()).toBe(true)
  await line.write(1)
  expect(await isNew()).toBe(false)
})

test('requests are counted as ok, refused (4xx) and failed (5xx)', async () => {
  const workspace = await newWorkspace(server)
  await workspace.call('/v1/me')
  await workspace.call('/v1/nothing')
  await server.api.flush()
  const { body } = await read(workspace.id, '/overview')
  expect([body.requests.ok, body.requests.refused, body.requests.failed].map(sum)).toEqual([1, 1, 0])
  expect(body.requests.ok.at(-1)).toBe(1)
})

test('delivery attempts are counted once, with the response time of the endpoint', async () => {
  const line = await newLine(server)
  const receiver = await newReceiver()
  await line.listen(receiver)
  receiver.next(500)
  await line.write(3)
  await vi.waitFor(() => expect(receiver.received).toHaveLength(4), 60_000)
  await vi.waitFor(async () => {
    const { deliveries, messages } = (await read(line.workspace.id, '/overview')).body
    expect([sum(deliveries.succeeded), sum(deliveries.failed)]).toEqual([3, 1])
    expect(deliveries.overall.p95_ms).toBeGreaterThanOrEqual(deliveries.overall.p50_ms)
    expect(deliveries.overall.p50_ms).toBeGreaterThan(0)
    expect(deliveries.p50_ms.filter((ms: number | null) => ms !== null)).toHaveLength(1)
    expect(sum(messages.received)).toBe(3)
  }, 60_000)
})

test('a member sees messages, but no requests, deliveries or credits', async () => {
  const workspace = await newWorkspace(server)
  const { body } = await read(workspace.id, '/overview', 'member')
  expect(body).toMatchObject({ requests: null, deliveries: null, endpoints: null, credits: null })
  expect(body.messages.sent).toHaveLength(24)
  expect((await read(workspace.id, '/problems', 'member')).body.data).toEqual([])
  const onboarding = (await read(workspace.id, '/onboarding', 'member')).body
  expect(onboarding.key_hint).toBeNull()
})

test('GET /problems lists problems, most severe first, with links', async () => {
  const line = await newLine(server)
  const { workspace } = line
  await giveCredits(server.db, server.clock, workspace.id, 1000, 'test')
  expect((await read(workspace.id, '/problems')).body.data).toEqual([])
  const receiver = await newReceiver()
  const { id } = await line.listen(receiver)
  await disableWebhook(server.db, server.clock, id, 'Under repair')
  await line.write(2)
  const week = new Date(server.clock.now().getTime() + 6 * 86_400_000)
  const { key } = await workspace.newKey({ name: 'shop', expiresAt: week })
  await workspace.newKey({ name: 'later', expiresAt: new Date(week.getTime() + 2 * 86_400_000) })
  await server.db.change(`update api_keys set created_at = created_at - interval '60 days' where workspace_id = $1`, [
    workspace.id,
  ])
  await workspace.newKey({ name: 'short', expiresAt: week })
  await server.db.change(`update senders set quality_rating = 'RED' where workspace_id = $1`, [workspace.id])
  await server.db.change(
    `update connections set sync_failures = 2, sync_error = 'The token is not valid.' where workspace_id = $1`,
    [workspace.id],
  )
  await giveCredits(server.db, server.clock, workspace.id, -950, 'test')
  const { data } = (await read(workspace.id, '/problems')).body
  expect(data.map(({ kind, severity }: { kind: string; severity: string }) => [kind, severity])).toEqual([
    ['webhook_disabled', 'problem'],
    ['sender_troubled', 'warning'],
    ['sync_failing', 'warning'],
    ['balance_low', 'warning'],
    ['key_expiring', 'warning'],
  ])
  expect(data[0]).toMatchObject({ href: `webhooks/${id}` })
  expect(data[0].detail).toBe('Under repair. 2 deliveries are held until you enable it.')
  expect(data[4]).toMatchObject({ href: `keys?open=${key.id}`, title: 'API key shop expires soon' })
})

test('an access token that is about to expire is listed as a problem, for those who may sync its account', async () => {
  const { workspace } = await sending.newShop()
  const other = await sending.newShop()
  const tokens = async (workspaceId: string, role: Role = 'admin') =>
    (await read(workspaceId, '/problems', role)).body.data.filter(
      ({ kind }: { kind: string }) => kind === 'token_expiring',
    )
  const expireIn = (days: number) =>
    server.db.rows(
      `update connections set token_seen_at = $2::timestamptz - interval '20 days',
         token_expires_at = $2::timestamptz + make_interval(days => $3) where workspace_id = $1`,
      [workspace.id, server.clock.now(), days],
    )
  await expireIn(8)
  expect(await tokens(workspace.id)).toEqual([])
  await expireIn(6)
  const problem = { severity: 'warning', href: 'senders', title: expect.stringMatching(/access token of account \d+/) }
  expect(await tokens(workspace.id)).toEqual([expect.objectContaining(problem)])
  expect(await tokens(workspace.id, 'developer')).toHaveLength(1)
  expect(await tokens(workspace.id, 'member')).toEqual([])
  expect(await tokens(other.workspace.id)).toEqual([])
})

test('rising API errors are listed as a problem, unless they are muted', async () => {
  const workspace = await newWorkspace(server)
  await giveCredits(server.db, server.clock, workspace.id, 1000, 'test')
  for (let round = 0; round < 19; round++) await workspace.call('/v1/nothing')
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const kinds = async () =>
    (await admin.call(`/w/${workspace.id}/problems`)).body.data.map(({ kind }: { kind: string }) => kind)
  await workspace.call('/v1/me')
  await server.api.flush()
  expect(await kinds()).toEqual([])
  await workspace.call('/v1/nothing')
  await server.api.flush()
  expect(await kinds()).toEqual(['refusals_rising'])
  await admin.call(`/w/${workspace.id}/refusals/not_found/mute`, { method: 'PUT', body: {} })
  expect(await kinds()).toEqual([])
})

test.each<[label: string, recent: number, before: number, rises: boolean]>([
  ['below the minimum', 19, 0, false],
  ['new', 20, 0, true],
  ['as usual', 100, 1200, false],
  ['three times the usual number', 300, 1200, false],
  ['more than three times the usual number', 301, 1200, true],
])('rising API errors: %s', (_label, recent, before, rises) => {
  const hour = (ago: number) => new Date(Date.UTC(2026, 10, 15, 9 - ago))
  const traffic = [
    { hour: hour(0), code: 'not_found', count: recent - 1 },
    { hour: hour(1), code: 'not_found', count: 1 },
    { hour: hour(5), code: 'not_found', count: before },
    { hour: hour(0), code: null, count: 10_000 },
  ]
  expect(risingCodes(traffic, hour(0)).length > 0).toBe(rises)
})

test('onboarding steps are done once the workspace has the data', async () => {
  const line = await newLine(server)
  const { workspace } = line
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const openSteps = async () =>
    (await admin.call(`/w/${workspace.id}/onboarding`)).body.steps
      .filter(({ done }: { done: boolean }) => !done)
      .map(({ kind }: { kind: string }) => kind)
  const messages = ['send', 'receive', 'reply']
  const empty = await newWorkspace(server)
  const { steps } = (await read(empty.id, '/onboarding')).body
  expect(steps[0]).toEqual({ kind: 'sender', done: false, permitted: true })
  // The admin was invited too, but is alone.
  expect(await openSteps()).toEqual([...messages, 'request', 'webhook', 'delivery', 'second_factor', 'teammate'])
  await admin.call(`/w/${workspace.id}/team/invites`, {
    method: 'POST',
    body: { email: 'b@example.com', role: 'member' },
  })
  expect(await openSteps()).toEqual([...messages, 'request', 'webhook', 'delivery', 'second_factor'])
  await workspace.call('/v1/me')
  await server.api.flush()
  expect(await openSteps()).not.toContain('request')
  const receiver = await newReceiver()
  await line.listen(receiver)
  expect(await openSteps()).toEqual([...messages, 'delivery', 'second_factor'])
  await line.write(1)
  await vi.waitFor(async () => expect(await openSteps()).toEqual(['send', 'reply', 'second_factor']), 60_000)
  const { body } = await admin.call(`/w/${workspace.id}/onboarding`)
  expect(body.key_hint).toBe(workspace.key.hint)
})

test('send, receive and reply are done when the network accepted them, not before and not if they failed', async () => {
  const shop = await sending.newShop()
  const { id } = shop.workspace
  const openSteps = async (role: Role = 'admin') =>
    (await read(id, '/onboarding', role)).body.steps
      .filter(({ kind, done }: { kind: string; done: boolean }) => ['send', 'receive', 'reply'].includes(kind) && !done)
      .map(({ kind, permitted }: { kind: string; permitted: boolean }) => (permitted ? kind : `${kind} by others`))
  await shop.sendText('15550131026')
  expect(await openSteps()).toEqual(['send', 'receive', 'reply'])
  await sending.drain()
  expect(await openSteps('member')).toEqual(['send by others', 'receive', 'reply by others'])
  await shop.sendText('16505550123')
  expect(await openSteps()).toEqual(['send', 'receive', 'reply'])
  await sending.drain()
  expect(await openSteps()).toEqual(['receive', 'reply'])

  const { control } = sending.network
  await control.phones.say('16505550124', { to: shop.account.phoneNumber, text: 'Hello' })
  await control.idle()
  expect(await openSteps()).toEqual(['reply'])
  server.clock.forward({ seconds: 1 })
  await shop.sendText('16505550123')
  await sending.drain()
  expect(await openSteps()).toEqual(['reply'])
  await shop.sendText('16505550124')
  await sending.drain()
  expect(await openSteps()).toEqual([])
})

test('percentileMs returns a value within the right step', () => {
  expect(percentileMs(countSteps([]), 0.5)).toBeNull()
  expect(percentileMs(countSteps([120]), 0.95)).toBeGreaterThan(100)
  const counts = countSteps([...Array(95).fill(8), ...Array(5).fill(4000)])
  expect(percentileMs(counts, 0.5)).toBeLessThanOrEqual(10)
  expect(percentileMs(counts, 0.99)).toBeGreaterThan(3000)
  expect(percentileMs(countSteps([60_000]), 0.5)).toBe(60_000)
  expect(percentileMs(addSteps(counts, counts), 0.5)).toBe(percentileMs(counts, 0.5))
})

test('no percentile is above the longest attempt, and p50 is never above p95', () => {
  for (const durations of [[120], [3.2, 3.4, 3.6], [1, 2, 101], [10_004, 10_002], [0.4], [7, 5400, 5401]]) {
    // As stored: counted by batch, then added up.
    const counts = durations.map((ms) => countSteps([ms])).reduce(addSteps)
    const [p50, p95] = [percentileMs(counts, 0.5) ?? 0, percentileMs(counts, 0.95) ?? 0]
    expect(p95).toBe(Math.max(...durations))
    expect(p50).toBeLessThanOrEqual(p95)
  }
})

test('a workspace that never had credits has not used them up', async () => {
  const workspace = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const shown = async () => {
    const [credits, overview, problems] = await Promise.all(
      ['credits', 'overview', 'problems'].map(async (path) => (await admin.call(`/w/${workspace.id}/${path}`)).body),
    )
    const { title, severity } = problems.data.find(({ kind }: { kind: string }) => kind === 'balance_low')
    return [credits.had_credits, overview.credits.low, title, severity]
  }
  expect(await shown()).toEqual([false, false, 'No credits yet', 'warning'])
  await giveCredits(server.db, server.clock, workspace.id, 1, 'test')
  await giveCredits(server.db, server.clock, workspace.id, -1, 'test')
  expect(await shown()).toEqual([true, true, 'No credits left', 'problem'])
})

test('the problems of a workspace without any are read in one round trip, and a member reads only what they may see', async () => {
  const { id: workspaceId } = await newWorkspace(server)
  await giveCredits(server.db, server.clock, workspaceId, 1000, 'test')
  const sent: string[] = []
  const inner = server.db.within(workspaceId)
  const counted: Db = {
    ...inner,
    rows: (text, values) => {
      sent.push(text)
      return inner.rows(text, values)
    },
    first: (text, values) => {
      sent.push(text)
      return inner.first(text, values)
    },
    transactionAtOnce: (work) => {
      sent.push('one round trip')
      return inner.transactionAtOnce(work)
    },
  }
  for (const role of ['admin', 'member'] as const) {
    expect(await listProblems({ db: counted, clock: server.clock, workspaceId, role })).toEqual([])
    expect(sent.splice(0), role).toEqual(['one round trip'])
  }
})
