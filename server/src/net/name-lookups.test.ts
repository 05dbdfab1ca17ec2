import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { type NameResponse, type NameServer, startNameServer } from '../../testing/name-server.ts'
import { tempFolder } from '../../testing/temp-folder.ts'
import { until } from '../../testing/until.ts'
import { Counters } from '../telemetry/counters.ts'
import { newLogger } from '../telemetry/logger.ts'
import { type LookupOptions, NameLookups } from './name-lookups.ts'

afterEach(() => vi.useRealTimers())

const good = ['93.184.216.34']

async function newLookups(names: Record<string, NameResponse>, options: LookupOptions = {}) {
  const server = await startNameServer(names)
  onTestFinished(() => server.close())
  const folder = tempFolder()
  const files = { hostsFile: join(folder, 'hosts'), resolvConfFile: join(folder, 'resolv.conf') }
  const { resolve } = new NameLookups({ servers: [server.address], deadlineMs: 1_500, ...files, ...options })
  /** Addresses, or why there are none. */
  const outcomeOf = (name: string, workspaceId?: string) =>
    resolve(name, workspaceId).then(
      (addresses) => addresses.map(({ address }) => address),
      (error) => error.reason,
    )
  return { server, resolve, outcomeOf, ...files }
}

const timesAsked = ({ asked }: NameServer, name: string) => asked.filter((each) => each === name).length

/** Moves only the clock: timers and the network continue. */
function moveClock() {
  vi.useFakeTimers({ toFake: ['performance'] })
  return (ms: number) => vi.advanceTimersByTime(ms)
}

test('a name has the addresses of both families, IPv4 first', async () => {
  const { resolve, outcomeOf } = await newLookups({
    'both.example': ['2606:4700::1111', '93.184.216.34', '93.184.216.35'],
    'six.example': ['2606:4700::1111'],
  })
  expect(await resolve('BOTH.example')).toEqual([
    { address: '93.184.216.34', family: 4 },
    { address: '93.184.216.35', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ])
  expect(await outcomeOf('six.example')).toEqual(['2606:4700::1111'])
})

test.each([
  ['at least five seconds', 0, 5_000],
  ['as long as its TTL says', 60, 60_000],
  ['at most five minutes', 86_400, 300_000],
])('a response is cached for %s', async (_name, ttl, cachedMs) => {
  const move = moveClock()
  const { server, outcomeOf } = await newLookups({ 'a.example': good })
  server.ttl = ttl
  for (const step of [0, cachedMs - 10]) {
    move(step)
    await outcomeOf('a.example')
    expect(timesAsked(server, 'a.example')).toBe(2)
  }
  move(20)
  server.names.set('a.example', ['93.184.216.99'])
  expect(await outcomeOf('a.example')).toEqual(['93.184.216.99'])
})

test('a name that does not exist is asked for again after five seconds', async () => {
  const move = moveClock()
  const { server, outcomeOf } = await newLookups({})
  expect(await outcomeOf('new.example')).toBe('not_found')
  server.names.set('new.example', good)
  expect(await outcomeOf('new.example')).toBe('not_found')
  move(5_001)
  expect(await outcomeOf('new.example')).toEqual(good)
})

test('concurrent look-ups of one name share one query for each family', async () => {
  const { server, outcomeOf } = await newLookups({ 'a.example': good })
  await Promise.all(Array.from({ length: 50 }, (_, index) => outcomeOf('a.example', `workspace ${index}`)))
  expect(timesAsked(server, 'a.example')).toBe(2)
})

test('the hanging names of a workspace do not delay the names of another', async () => {
  const hanging = Array.from({ length: 40 }, (_, index) => `hang-${index}.example`)
  const others = Array.from({ length: 40 }, (_, index) => `good-${index}.example`)
  const { server, outcomeOf } = await newLookups(
    {
      ...Object.fromEntries(hanging.map((name) => [name, 'hang' as const])),
      ...Object.fromEntries(others.map((name) => [name, good])),
    },
    { deadlineMs: 4_000 },
  )
  let ended = 0
  const outcomes = hanging.map((name) => outcomeOf(name, 'bad').finally(() => ended++))
  await until('hanging names are asked for', () => server.asked.length > 0)
  expect(await Promise.all(others.map((name) => outcomeOf(name, 'other')))).toEqual(others.map(() => good))
  // The other workspace has its addresses before the first hanging name has ended. Of those, 16 are in progress.
  expect(ended).toBe(0)
  expect(new Set(server.asked.filter((name) => name.startsWith('hang'))).size).toBe(16)
  const reasons = await Promise.all(outcomes)
  expect(new Set(reasons)).toEqual(new Set(['no_response', 'too_many']))
  expect(reasons.filter((reason) => reason === 'no_response')).toHaveLength(16)
})

test.each<NameResponse>(['hang', 'servfail', 'refused'])(
  'a name whose server fails (%s) is its own problem if the resolver responds for others',
  async (response) => {
    const { outcomeOf } = await newLookups({ 'good.example': good, 'bad.example': response })
    expect(await outcomeOf('good.example')).toEqual(good)
    expect(await outcomeOf('bad.example')).toBe('no_response')
  },
)

test.each<NameResponse>(['hang', 'servfail', 'refused'])(
  'a resolver that fails for every name (%s) is our problem, until it responds again',
  async (response) => {
    const lines: string[] = []
    const log = newLogger('info', { write: (line) => void lines.push(line) })
    const metrics = new Counters()
    const { server, outcomeOf } = await newLookups({ 'good.example': good, 'other.example': good }, { log, metrics })
    await outcomeOf('good.example')
    server.everything = response
    expect(await outcomeOf('other.example')).toBe('resolver_down')
    expect(await outcomeOf('other.example')).toBe('resolver_down')
    server.everything = null
    expect(await outcomeOf('other.example')).toEqual(good)
    expect(lines.map((line) => JSON.parse(line).event)).toEqual(['resolver.no_response', 'resolver.recovered'])
    expect(Object.fromEntries(metrics.counts('name lookups'))).toEqual({ found: 2, resolver_down: 2 })
  },
)

test('a resolver that only returns what it has cached is our problem', async () => {
  const { server, outcomeOf } = await newLookups({ 'good.example': good })
  await outcomeOf('good.example')
  // As when a forwarder lost its own name server: known names are resolved, all others are not.
  server.unlisted = 'hang'
  expect(await outcomeOf('other.example')).toBe('resolver_down')
})

test.each(['bad.example', 'good.example'])(
  'a process that knows no other name asks below the top-level domain whether its resolver works (%s)',
  async (name) => {
    const move = moveClock()
    const { server, outcomeOf } = await newLookups({ 'good.example': good })
    if (name === 'good.example') await outcomeOf(name)
    move(5_001)
    server.names.set(name, 'servfail')
    expect(await outcomeOf(name)).toBe('no_response')
    expect(server.asked.some((each) => /^parley-[0-9a-f]+\.example$/.test(each))).toBe(true)
  },
)

test('a resolver that only returns the root from its cache is our problem', async () => {
  const { server, outcomeOf } = await newLookups({ '': good })
  server.unlisted = 'servfail'
  expect(await outcomeOf('first.example')).toBe('resolver_down')
})

test('for a name without a dot, a process that knows no other name asks for the root', async () => {
  const { server, outcomeOf } = await newLookups({ bad: 'servfail', '': good })
  expect(await outcomeOf('bad')).toBe('no_response')
  expect(server.asked).toContain('')
})

test('a name so long that nothing fits below it does not make our resolver look healthy', async () => {
  const long = `${Array(4).fill('a'.repeat(58)).join('.')}.example`
  const { server, outcomeOf } = await newLookups({ [long]: good })
  expect(await outcomeOf(long)).toEqual(good)
  server.everything = 'servfail'
  expect(await outcomeOf('other.example')).toBe('resolver_down')
})

test('a resolver that stays down is our problem for as long as it is down', async () => {
  const move = moveClock()
  const { server, outcomeOf } = await newLookups({ 'one.example': good, 'two.example': good })
  await outcomeOf('one.example')
  await outcomeOf('two.example')
  // A forwarder that lost its own name server knows the root for days.
  server.names = new Map([['', good]])
  server.unlisted = 'servfail'
  for (let round = 0; round < 3; round++) {
    move(5_001)
    expect(await outcomeOf('one.example')).toBe('resolver_down')
    expect(await outcomeOf('two.example')).toBe('resolver_down')
  }
})

test('a name that is resolved once a stall of our resolver has ended is found', async () => {
  const names = { 'good.example': good, 'known.example': good }
  const { server, outcomeOf } = await newLookups(names, { deadlineMs: 3_000 })
  await outcomeOf('known.example')
  server.everything = 'hang'
  const outcome = outcomeOf('good.example')
  const isCheck = (name: string) => name.startsWith('parley-')
  await until('the resolver is checked', () => server.asked.some(isCheck))
  server.everything = null
  expect(await outcome).toEqual(good)
})

test('nothing listens at the address of the name server', async () => {
  const { server, outcomeOf } = await newLookups({})
  const { address } = server
  const { resolve } = new NameLookups({ servers: [address.replace(/\d+$/, '1')] })
  await expect(resolve('a.example')).rejects.toMatchObject({ reason: 'resolver_down' })
  expect(await outcomeOf('a.example')).toBe('not_found')
})

test('a name with addresses of one family is found although the other gets no response', async () => {
  const { server, outcomeOf } = await newLookups({ 'four.example': good })
  server.hangsFor = 'aaaa'
  expect(await outcomeOf('four.example')).toEqual(good)
})

test('IPv6 addresses alone are used only if there is no response for IPv4, and not for long', async () => {
  const move = moveClock()
  const { server, outcomeOf } = await newLookups(
    { 'both.example': ['2606:4700::1111', ...good] },
    { deadlineMs: 4_000 },
  )
  server.ttl = 300
  server.hangsFor = 'a'
  const first = outcomeOf('both.example')
  await until('the first query for IPv4 was lost', () => timesAsked(server, 'both.example') >= 2)
  await sleep(700)
  server.hangsFor = null
  expect(await first).toEqual([...good, '2606:4700::1111'])

  move(300_001)
  server.hangsFor = 'a'
  expect(await outcomeOf('both.example')).toEqual(['2606:4700::1111'])
  server.hangsFor = null
  move(5_001)
  expect(await outcomeOf('both.example')).toEqual([...good, '2606:4700::1111'])
})

test('/etc/hosts comes first and is read again when it changes; localhost needs no name server', async () => {
  const move = moveClock()
  const { server, outcomeOf, hostsFile } = await newLookups({ 'receiver.internal': good })
  expect(await outcomeOf('localhost')).toEqual(['127.0.0.1', '::1'])
  writeFileSync(hostsFile, '# comment\n127.0.0.1 localhost\n10.0.0.7\treceiver.internal  Alias # x\nfd00::7 alias\n')
  move(1_001)
  expect(await outcomeOf('receiver.internal')).toEqual(['10.0.0.7'])
  expect(await outcomeOf('alias.')).toEqual(['10.0.0.7', 'fd00::7'])
  expect(await outcomeOf('x.localhost')).toEqual(['127.0.0.1'])
  expect(server.asked).toEqual([])
  writeFileSync(hostsFile, '')
  move(1_001)
  expect(await outcomeOf('receiver.internal')).toEqual(good)
})

test('the search domains of /etc/resolv.conf are tried first for a name without a dot, last for others', async () => {
  const { server, outcomeOf, resolvConfFile } = await newLookups({
    'my-receiver.default.svc.cluster.local': ['10.0.0.1'],
    'my-receiver.other.svc.cluster.local': ['10.0.0.2'],
    'compose-receiver': ['10.0.0.3'],
    'public.example': good,
    'absolute.svc.cluster.local': good,
  })
  writeFileSync(resolvConfFile, 'search default.svc.cluster.local svc.cluster.local\noptions ndots:5\n')
  expect(await outcomeOf('my-receiver')).toEqual(['10.0.0.1'])
  expect(await outcomeOf('my-receiver.other')).toEqual(['10.0.0.2'])
  expect(await outcomeOf('compose-receiver')).toEqual(['10.0.0.3'])
  server.asked = []
  expect(await outcomeOf('public.example')).toEqual(good)
  expect(new Set(server.asked)).toEqual(new Set(['public.example']))
  expect(await outcomeOf('absolute.')).toBe('not_found')
})
