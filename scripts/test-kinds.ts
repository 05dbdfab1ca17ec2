// Tells the test files apart by what they import, so that no list has to be kept.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = dirname(import.meta.dirname)
const places = '{contract,sdk,simulator,server,console,cli,bench,examples,scripts,e2e}/**/*.test.ts'
const harness = /(^|\/)(testing|e2e)\//

/** Servers, databases, other processes. */
const notAlone =
  /^(node:(child_process|http|https|net|tls|worker_threads)|pg|fastify|(@parley\/|)simulator(\/src)?\/start(\.ts)?)$/

const takesLong = /^playwright-core$|^e2e\/|^server\/testing\/(browser|crash|parley|service)\.ts$/

export interface TestKinds {
  /** They need no server, no browser and no database. */
  unit: string[]
  whole: string[]
  /** Those of `whole` that start processes or a browser, and take longest. */
  slow: string[]
}

export function testKinds(): TestKinds {
  const all = [
    ...globSync(places, { cwd: root, exclude: ['**/node_modules/**'] }),
    ...globSync('*.test.ts', { cwd: root }),
  ]
  const reached = new Map(all.map((file) => [file, reach(file)]))
  const whole = all.filter((file) => [...(reached.get(file) ?? [])].some((name) => notAlone.test(name)))
  return {
    unit: all.filter((file) => !whole.includes(file)),
    whole,
    slow: whole.filter((file) => [...(reached.get(file) ?? [])].some((name) => takesLong.test(name))),
  }
}

/** The modules that a test file and the harness it uses import. The sources that it tests are not followed. */
function reach(file: string, found = new Set<string>()): Set<string> {
  for (const [, name = ''] of readFileSync(join(root, file), 'utf8').matchAll(
    /^(?:import|export|\} from).*?'([^']+)'$/gm,
  )) {
    const path = name.startsWith('.') ? relative(root, join(root, dirname(file), name)) : name
    if (found.has(path)) continue
    found.add(path)
    if (path !== name && harness.test(path) && existsSync(join(root, path))) reach(path, found)
  }
  return found
}
