import { expect, test } from 'vitest'
import { signedIn } from '../../../../testing/console.ts'
import { useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { newWorkspace } from '../../../../testing/workspace.ts'

const server = useTestServer()
const sending = useSending(server)
const hourMs = 3_600_000
const phone = '16505550123'
/** The simulated network reports messages to it as failed. */
const failing = '15550131026'

interface Bars {
  times: string[]
  counts: Record<string, number[]>
  counted_from: string | null
}

/** In the first hour two read messages and a received one, in the second a failed one, in the third a queued one. */
async function setUp() {
  const shop = await sending.newShop()
  const { workspace, account } = shop
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const read = (path: string) => person.call(`/w/${workspace.id}${path}`)
  server.clock.forward({ ms: hourMs - (server.clock.now().getTime() % hourMs) })
  const hour = server.clock.now()
  const text = (to: string) => shop.send({ to, type: 'text', text: { body: 'hello' } })
  await sending.network.control.phones.say(phone, { to: account.phoneNumber, text: 'hi, it is Ana' })
  await sending.network.control.phones.say(failing, { to: account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  await text(phone)
  // The last millisecond of the first hour belongs to it.
  server.clock.forward({ ms: hourMs - 1 })
  await text(phone)
  await sending.drain()
  server.clock.forward({ ms: 1 })
  await text(failing)
  await sending.drain()
  server.clock.forward({ hours: 1 })
  await text(phone)
  const bars = async (query = ''): Promise<Bars> => {
    const { status, body } = await read(`/messages/bars?${query}`)
    expect([status, query]).toEqual([200, query])
    return body
  }
  const range = (from: number, to: number) =>
    `from=${new Date(hour.getTime() + from * hourMs).toISOString()}&to=${new Date(hour.getTime() + to * hourMs).toISOString()}`
  return { ...shop, read, bars, hour, range }
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)

test('messages are counted by result in the hour in which they were stored', async () => {
  const { bars, hour, range } = await setUp()
  const { times, counts, counted_from } = await bars(range(-60, 3))
  const first = times.indexOf(hour.toISOString())
  expect(Object.fromEntries(Object.entries(counts).map(([key, values]) => [key, values.slice(first)]))).toEqual({
    received: [2, 0, 0],
    delivered: [2, 0, 0],
    failed: [0, 1, 0],
    pending: [0, 0, 1],
  })
  expect(counted_from).toBeNull()
})

test('a short range is counted from the messages, and its bars are minutes', async () => {
  const { bars, hour, range } = await setUp()
  const { times, counts } = await bars(range(0, 1))
  expect([times.length - 1, times[0]]).toEqual([60, hour.toISOString()])
  expect([counts.received?.at(0), counts.delivered?.at(0), counts.delivered?.at(-1)]).toEqual([2, 1, 1])
})

test('the bars have the filters of the list, whether hours or messages are counted', async () => {
  const { bars, read, range, workspace } = await setUp()
  const { body: senders } = await workspace.call('/v1/senders')
  const sender = (senders as { data: { id: string }[] }).data[0]?.id
  const filters = [
    ...['', 'direction=sent', 'direction=received', 'status=read', 'status=delivered,read', 'status=queued,sent'],
    ...['status=failed', 'status=read&direction=received', 'type=text', 'type=image', `sender=${sender}`],
    ...[`phone=%2B${phone}`, `q=${phone}`, `q=${phone}&status=read`, 'q=nothing'],
    // The name of a contact, and a word of one of her messages.
    'q=ana',
  ]
  for (const filter of filters) {
    for (const span of [range(-60, 3), range(0, 3)]) {
      const { body } = await read(`/messages?limit=100&${span}&${filter}`)
      const { counts } = await bars(`${span}&${filter}`)
      expect([filter, sumOf(Object.values(counts).flat())]).toEqual([filter, body.data.length])
    }
  }
})

test('days begin at midnight in the time zone, and messages from before the hourly counts are counted too', async () => {
  const { bars, hour } = await setUp()
  const from = new Date(hour.getTime() - 40 * 24 * hourMs).toISOString()
  const { times, counts } = await bars(`from=${from}&zone=Asia/Tokyo`)
  expect(new Set(times.map((time) => time.slice(11, 16)))).toEqual(new Set(['15:00']))
  expect(Object.values(counts).map(sumOf).sort()).toEqual([1, 1, 2, 2])
})

test('many messages: a known filter shows hours instead of minutes, another one says from when it counted', async () => {
  const { bars, hour, range, workspace } = await setUp()
  await server.db.change(
    `insert into messages (id, workspace_id, sender_id, recipient, created_at, key_id, type, credits, content)
     select gen_random_uuid(), $1, s.id, $2, $3::timestamptz + interval '30 minutes' + n * interval '1 ms', k.id, 'text', 0, '{}'
     from generate_series(1, 30100) as n, senders s, api_keys k where s.workspace_id = $1 and k.workspace_id = $1`,
    [workspace.id, phone, hour],
  )
  const inHours = await bars(range(0, 1))
  expect([inHours.times.length - 1, inHours.counted_from]).toEqual([1, null])
  const partial = await bars(`${range(0, 1)}&phone=%2B${phone}`)
  expect(Date.parse(partial.counted_from ?? '')).toBeGreaterThan(hour.getTime() + hourMs / 2)
})

test('the bars have only the messages of the workspace', async () => {
  const { workspace } = await setUp()
  const other = await newWorkspace(server)
  const stranger = await signedIn(server, { workspaceId: other.id, role: 'admin' })
  expect((await stranger.call(`/w/${workspace.id}/messages/bars`)).status).toBe(404)
  const { body } = await stranger.call(`/w/${other.id}/messages/bars`)
  expect(sumOf(Object.values((body as Bars).counts).flat())).toBe(0)
})
