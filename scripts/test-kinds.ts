// Classifies the test files by their imports, so that no list has to be maintained.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = dirname(import.meta.dirname)
const testFiles =
  '{contract,sdk,testing,simulator,server,console,cli,bench,reliability,examples,scripts,e2e}/**/*.test.ts'
const helpers = /(^|\/)(testing|e2e)\//

/** Modules that start servers, databases or other processes. */
const externalModules =
  /^(node:(child_process|http|https|net|tls|worker_threads)|pg|fastify|(@parley\/|)simulator(\/src)?\/start(\.ts)?)$/

const slowModules =
  /^playwright-core$|^e2e\/|^testing\/src\/start-parley\.ts$|^sdk\/build\/compiler\.ts$|^server\/testing\/(browser|crash|name-server|parley|prepared-data-dir|service)\.ts$/

export interface TestKinds {
  /** Need no server, browser or database. */
  unit: string[]
  whole: string[]
  /** Those of `whole` that start processes or a browser, which take longest. */
  slow: string[]
}

export function testKinds(): TestKinds {
  const all = [
    ...globSync(testFiles, { cwd: root, exclude: ['**/node_modules/**'] }),
    ...globSync('*.test.ts', { cwd: root }),
  ]
  const imports = new Map(all.map((file) => [file, importsOf(file)]))
  const whole = all.filter((file) => [...(imports.get(file) ?? [])].some((name) => externalModules.test(name)))
  return {
    unit: all.filter((file) => !whole.includes(file)),
    whole,
    slow: whole.filter((file) => [...(imports.get(file) ?? [])].some((name) => slowModules.test(name))),
  }
}

/** The modules that a test file and its test helpers import. Imports of the tested sources are not followed. */
function importsOf(file: string, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(
    /^(?:import|export|\} from).*?'([^']+)'$/gm,
  )) {
    const path = name.startsWith('.') ? relative(root, join(root, dirname(file), name)) : name
    if (found.has(path)) continue
    found.add(path)
    if (path !== name && helpers.test(path) && existsSync(join(root, path))) importsOf(path, found)
  }
  return found
}
