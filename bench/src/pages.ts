import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import { openStore } from '@parley/server/db/store'
import { newLogger } from '@parley/server/lib/logger'
import { type ConsoleSession, pageRequests } from './page-requests.ts'
import { type Seeded, seed } from './pages-seed.ts'
import { startTarget } from './process.ts'

const limitMs = 1000
const warmRounds = 5

/**
 * All requests of the console's pages when they are opened, filtered and paged, for a workspace with a million messages and
 * ten million logged requests. With BENCH_DATA_DIR, the seeded data is kept there for the next run.
 */
export async function benchPages(): Promise<void> {
  const keptDataDir = process.env.BENCH_DATA_DIR
  const dataDir = keptDataDir ?? mkdtempSync(join(tmpdir(), 'parley-bench-'))
  try {
    const seeded = await seedOnce(dataDir)
    const target = await startTarget('parley', dataDir)
    try {
      const session = await signIn(`http://127.0.0.1:${target.port}`, seeded)
      await measure(session)
    } finally {
      await target.stop()
    }
  } finally {
    if (!keptDataDir) rmSync(dataDir, { recursive: true, force: true })
  }
}

async function seedOnce(dataDir: string): Promise<Seeded & { isExisting: boolean }> {
  const seedFile = join(dataDir, 'bench-pages.json')
  if (existsSync(seedFile)) return { ...(JSON.parse(readFileSync(seedFile, 'utf8')) as Seeded), isExisting: true }
  const began = performance.now()
  console.log('seeding')
  const config = readConfig({ PARLEY_DATA_DIR: dataDir })
  const store = await openStore(config, { purpose: 'visitor', schema: 'migrate', log: newLogger('silent') })
  try {
    const seeded = await seed(store, config, (line) => console.log(line))
    writeFileSync(seedFile, JSON.stringify(seeded))
    console.log(`seeded in ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
    return { ...seeded, isExisting: false }
  } finally {
    await store.close()
  }
}

/** Creates the account with the setup link, or signs in if it exists. */
async function signIn(
  url: string,
  { workspaceId, setupToken, isExisting }: Seeded & { isExisting: boolean },
): Promise<ConsoleSession> {
  const who = { email: 'bench@example.com', password: 'seven quiet otters' }
  const [path, body] = isExisting ? ['sign-in', who] : ['links/use', { ...who, name: 'Bench', token: setupToken }]
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

async function measure(session: ConsoleSession): Promise<void> {
  const results: { page: string; name: string; cold: number; warm: number }[] = []
  console.log(row('page', 'request', 'cold ms', 'warm ms'))
  for await (const { page, path } of pageRequests(session)) {
    const cold = (await session.get(path)).ms
    const warmTimes: number[] = []
    for (let round = 0; round < warmRounds; round++) warmTimes.push((await session.get(path)).ms)
    const warm = warmTimes.sort((left, right) => left - right)[Math.floor(warmRounds / 2)] ?? 0
    const result = { page, name: nameOf(path), cold, warm }
    results.push(result)
    console.log(`${row(page, result.name, cold.toFixed(0), warm.toFixed(0))}  ${isQuick(result) ? 'met' : 'MISSED'}`)
  }
  const met = results.filter(isQuick).length
  console.log(`\n${met} of ${results.length} within ${limitMs} ms, cold and warm. The slowest when warm:`)
  for (const { page, name, cold, warm } of results.sort((left, right) => right.warm - left.warm).slice(0, 5)) {
    console.log(row(page, name, cold.toFixed(0), warm.toFixed(0)))
  }
}

const isQuick = ({ cold, warm }: { cold: number; warm: number }): boolean => cold < limitMs && warm < limitMs

const row = (page: string, name: string, cold: string, warm: string): string =>
  `${page.padEnd(12)}${name.padEnd(62)}${cold.padStart(8)}${warm.padStart(9)}`

/** A path without the parts that differ between runs. */
const nameOf = (path: string): string =>
  path
    .replace(/^:/, '')
    .replace(/cursor=[^&]+/, 'cursor=…')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
