import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import serverPackage from '../package.json' with { type: 'json' }
import { newServiceDatabase } from '../testing/database.ts'
import { spawnService } from '../testing/service.ts'

/**
 * The dependencies that every process needs. Each takes memory in every process. A dependency that only some requests
 * need is loaded by the first of them (`lib/load.ts`), and does not belong here.
 */
const neededByAll = [
  '@fastify/static',
  '@parley/contract',
  'ajv',
  'fast-json-stringify',
  'fastify',
  'ipaddr.js',
  'pg',
  'pg-copy-streams',
  'pino',
  'secure-json-parse',
  'typebox',
  // Only the files that open connections.
  'undici',
]

/** Compilers of schemas that Fastify would load for routes with a schema. Ours are compiled by `http/validate.ts`. */
const neverNeeded = ['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler']

/** What loads the others, where a request can show it. */
const loadedBy = {
  'prom-client': '/metrics',
  marked: '/docs/start/quickstart',
}

/** Starts a service that writes down every file that it loads. */
async function setUp() {
  const { connection, drop } = await newServiceDatabase()
  onTestFinished(drop)
  const folder = mkdtempSync(join(tmpdir(), 'parley-loaded-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'loaded')
  const record = `
    import { appendFileSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    registerHooks({
      load(url, context, next) {
        appendFileSync(${JSON.stringify(file)}, url + '\\n')
        return next(url, context)
      },
    })`
  const service = await spawnService(
    connection,
    { NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(record).toString('base64')}` },
    { root: join(import.meta.dirname, '..', '..') },
  )
  onTestFinished(async () => void (await service.stop()))
  const files = () => readFileSync(file, 'utf8').split('\n')
  const names = () => new Set(files().map((url) => /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]))
  return { url: service.url, files, names }
}

test('a process that has started has loaded only what every process needs', async () => {
  const { url, files, names } = await setUp()
  const loaded = names()
  const others = Object.keys(serverPackage.dependencies).filter((name) => !neededByAll.includes(name))
  expect(others).not.toEqual([])
  expect([...others, ...neverNeeded].filter((name) => loaded.has(name))).toEqual([])
  expect(files().filter((each) => /lib\/(traces|open-tracing)\.ts$/.test(each))).toEqual([])
  const ofUndici = files().filter((each) => each.includes('/node_modules/undici/'))
  expect(ofUndici.filter((each) => !/undici\/lib\/(core|util)\//.test(each))).toEqual([])
  for (const [name, path] of Object.entries(loadedBy)) {
    expect((await fetch(url + path)).status).toBe(200)
    expect([...names()]).toContain(name)
  }
})
