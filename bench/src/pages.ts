import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import { openStore } from '@parley/server/db/store'
import { newLogger } from '@parley/server/lib/logger'
import { type ConsoleSession, questions } from './page-requests.ts'
import { type Seeded, seed } from './pages-seed.ts'
import { startTarget } from './process.ts'

const limitMs = 1000
const warmRounds = 5

/**
 * Everything that the console's pages ask when they are opened, searched and turned, of one workspace with a million
 * messages and ten million logged requests. With BENCH_DATA_DIR what was seeded is kept there for the next time.
 */
export async function benchPages(): Promise<void> {
  const kept = process.env.BENCH_DATA_DIR
  const dataDir = kept ?? mkdtempSync(join(tmpdir(), 'parley-bench-'))
  try {
    const seeded = await seedOnce(dataDir)
    const target = await startTarget('parley', dataDir)
    try {
      const visit = await signIn(`http://127.0.0.1:${target.port}`, seeded)
      await measure(visit)
    } finally {
      await target.stop()
    }
  } finally {
    if (!kept) rmSync(dataDir, { recursive: true, force: true })
  }
}

async function seedOnce(dataDir: string): Promise<Seeded & { isAgain: boolean }> {
  const note = join(dataDir, 'bench-pages.json')
  if (existsSync(note)) return { ...(JSON.parse(readFileSync(note, 'utf8')) as Seeded), isAgain: true }
  const began = performance.now()
  console.log('seeding')
  const config = readConfig({ PARLEY_DATA_DIR: dataDir })
  const store = await openStore(config, { purpose: 'visitor', schema: 'migrate', log: newLogger('silent') })
  try {
    const seeded = await seed(store, config, (line) => console.log(line))
    writeFileSync(note, JSON.stringify(seeded))
    console.log(`seeded in ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
    return { ...seeded, isAgain: false }
  } finally {
    await store.close()
  }
}

/** Follows the setup link, or signs in where that was done. */
async function signIn(
  url: string,
  { workspaceId, setupToken, isAgain }: Seeded & { isAgain: boolean },
): Promise<ConsoleSession> {
  const who = { email: 'bench@example.com', password: 'seven quiet otters' }
  const [path, body] = isAgain ? ['sign-in', who] : [`links/${setupToken}`, { ...who, name: 'Bench' }]
  const response = await fetch(`${url}/console/api/${path}`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`signing in answered ${response.status} ${await response.text()}`)
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
  return {
    async ask(path) {
      const began = performance.now()
      const reply = await fetch(`${url}/console/api/${path.replace(/^:/, `w/${workspaceId}/`)}`, {
        headers: { cookie },
      })
      const text = await reply.text()
      const ms = performance.now() - began
      if (!reply.ok) throw new Error(`${path} answered ${reply.status} ${text}`)
      return { ms, body: JSON.parse(text) }
    },
  }
}

async function measure(visit: ConsoleSession): Promise<void> {
  const asked: { page: string; name: string; cold: number; warm: number }[] = []
  console.log(row('page', 'request', 'cold ms', 'warm ms'))
  for await (const { page, path } of questions(visit)) {
    const cold = (await visit.ask(path)).ms
    const again: number[] = []
    for (let round = 0; round < warmRounds; round++) again.push((await visit.ask(path)).ms)
    const warm = again.sort((left, right) => left - right)[Math.floor(warmRounds / 2)] ?? 0
    const one = { page, name: nameOf(path), cold, warm }
    asked.push(one)
    console.log(`${row(page, one.name, cold.toFixed(0), warm.toFixed(0))}  ${isQuick(one) ? 'met' : 'MISSED'}`)
  }
  const met = asked.filter(isQuick).length
  console.log(`\n${met} of ${asked.length} within ${limitMs} ms, both for the first time and again; the slowest again:`)
  for (const { page, name, cold, warm } of asked.sort((left, right) => right.warm - left.warm).slice(0, 5)) {
    console.log(row(page, name, cold.toFixed(0), warm.toFixed(0)))
  }
}

const isQuick = ({ cold, warm }: { cold: number; warm: number }): boolean => cold < limitMs && warm < limitMs

const row = (page: string, name: string, cold: string, warm: string): string =>
  `${page.padEnd(12)}${name.padEnd(62)}${cold.padStart(8)}${warm.padStart(9)}`

/** A path without what differs from run to run. */
const nameOf = (path: string): string =>
  path
    .replace(/^:/, '')
    .replace(/cursor=[^&]+/, 'cursor=…')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '…')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '…')
