import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import type { Scope } from './lib/scope.ts'
import { median, percentile } from './lib/statistics.ts'
import type { Row } from './lib/table.ts'
import { type ConsoleSession, pageRequests } from './page-requests.ts'
import { type Seeded, seed } from './pages-seed.ts'

/** Of a request that is made again, and of one that is made for the first time. */
const limitMs = { again: 300, first: 1000 }
/** Of a total. A list does not wait for it. */
const totalMs = 1000
/** Of a search, p95. */
const searchMs = 300
const warmRounds = 5
/** How many of the slowest requests have a row of their own. */
const slowest = 5

/**
 * All requests of the console's pages when they are opened, filtered and paged, for a workspace with a million messages and
 * ten million logged requests. With BENCH_DATA_DIR, the seeded data is kept there for the next run. With BENCH_KEEP, nothing
 * is measured: the service runs until it is interrupted, for a person who looks at the pages.
 */
export async function benchPages(scope: Scope): Promise<Row[]> {
  const dataDir = process.env.BENCH_DATA_DIR ?? scope.newFolder()
  const seeded = await scope.part((part) => seedOnce(part, dataDir))
  const target = await scope.startTarget('parley', dataDir)
  const url = `http://127.0.0.1:${target.port}`
  const session = await signIn(url, seeded)
  if (process.env.BENCH_KEEP) {
    scope.say(`${url} runs until you press Ctrl-C. Sign in as ${person.email} with the password "${person.password}".`)
    await new Promise(() => {})
  }
  return measure(scope, session)
}

const person = { email: 'bench@example.com', password: 'seven quiet otters' }

async function seedOnce(scope: Scope, dataDir: string): Promise<Seeded & { isExisting: boolean }> {
  const seedFile = join(dataDir, 'bench-pages.json')
  if (existsSync(seedFile)) return { ...(JSON.parse(readFileSync(seedFile, 'utf8')) as Seeded), isExisting: true }
  const began = performance.now()
  scope.say('seeding')
  const store = await scope.openStore(dataDir)
  const seeded = await seed(store, readConfig({ PARLEY_DATA_DIR: dataDir }), scope.say)
  writeFileSync(seedFile, JSON.stringify(seeded))
  scope.say(`seeded in ${((performance.now() - began) / 1000).toFixed(0)} s`)
  return { ...seeded, isExisting: false }
}

/** Creates the account with the setup link, or signs in if it exists. */
async function signIn(
  url: string,
  { workspaceId, setupToken, isExisting }: Seeded & { isExisting: boolean },
): Promise<ConsoleSession> {
  const [path, body] = isExisting ? ['sign-in', person] : ['links/use', { ...person, name: 'Bench', token: setupToken }]
  const response = await fetch(`${url}/console/api/${path}`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`signing in returned ${response.status} ${await response.text()}`)
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  return {
    async get(path) {
      const began = performance.now()
      const reply = await fetch(`${url}/console/api/${path.replace(/^:/, `w/${workspaceId}/`)}`, {
        headers: { cookie },
      })
      const text = await reply.text()
      const ms = performance.now() - began
      if (!reply.ok) throw new Error(`${path} returned ${reply.status} ${text}`)
      return { ms, body: JSON.parse(text) }
    },
  }
}

async function measure(scope: Scope, session: ConsoleSession): Promise<Row[]> {
  const results: { what: string; cold: number; warm: number[] }[] = []
  for await (const { page, path } of pageRequests(session)) {
    const cold = (await session.get(path)).ms
    const warm: number[] = []
    for (let round = 0; round < warmRounds; round++) warm.push((await session.get(path)).ms)
    const what = `${page}: ${nameOf(path)}`
    results.push({ what, cold, warm })
    scope.say(`${what}: first ${cold.toFixed(0)} ms, again ${median(warm).toFixed(0)} ms`)
  }
  const searches = results.filter(({ what }) => what.startsWith('palette:'))
  const rounds = Array.from({ length: warmRounds }, (_, round) => round)
  const totals = results.filter(({ what }) => what.includes('/total?'))
  const others = results.filter((result) => !totals.includes(result))
  const late = others.filter(({ cold, warm }) => cold > limitMs.first || median(warm) > limitMs.again)
  return [
    {
      what: `of ${others.length} requests, over ${limitMs.first} ms the first time or ${limitMs.again} ms again`,
      unit: '',
      rounds: [late.length],
      target: { atMost: 0 },
    },
    {
      what: `of ${totals.length} totals, over ${totalMs} ms`,
      unit: '',
      rounds: [totals.filter(({ warm }) => median(warm) > totalMs).length],
      target: { atMost: 0 },
    },
    {
      what: 'search, p95 of all',
      unit: 'ms',
      rounds: rounds.map((round) =>
        percentile(
          searches.map(({ warm }) => warm[round] ?? Number.NaN),
          0.95,
        ),
      ),
      target: { atMost: searchMs },
    },
    ...results
      .sort((left, right) => median(right.warm) - median(left.warm))
      .slice(0, slowest)
      .map(({ what, cold, warm }) => {
        const base = { name: 'first', rounds: warm.map(() => cold) }
        return { what, unit: 'ms', rounds: warm, base }
      }),
  ]
}

/** A path without the parts that differ between runs. */
const nameOf = (path: string): string =>
  path
    .replace(/^:/, '')
    .replace(/cursor=[^&]+/, 'cursor=…')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
