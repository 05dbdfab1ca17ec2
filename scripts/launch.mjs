// Sees to it that the dependencies are there and current, then runs the thing on the Node that they bring along. Plain
// JavaScript, for it has to run on the Node 20 or later that a machine happens to have.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import * as modules from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ensureConsole } from './ensure-console.mjs'
import { ensureInstalled } from './ensure-installed.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Where Node keeps what it made of the sources: the next start then takes half the time. It goes with the dependencies. */
const compiled = join(root, 'node_modules', '.cache', 'parley')

/** The oldest Node that runs the TypeScript sources as they are. */
const oldestForSources = 24

const programs = {
  start: { entry: 'cli/src/main.ts', args: ['start'], console: true },
  parley: { entry: 'cli/src/main.ts', args: [] },
  test: { entry: 'node_modules/vitest/vitest.mjs', args: ['run'], console: true },
  unit: { entry: 'node_modules/vitest/vitest.mjs', args: ['run', '--project', 'unit'] },
  check: { entry: 'scripts/check.ts', args: [] },
  bench: { entry: 'bench/src/main.ts', args: [] },
  reliability: { entry: 'scripts/reliability.ts', args: [] },
  openapi: { entry: 'scripts/openapi.ts', args: [] },
  screenshots: { entry: 'scripts/screenshots.ts', args: [], console: true },
  survive: { entry: 'scripts/survive.ts', args: [], console: true },
}

export async function launch(name, args) {
  if (name === 'test' && args[0] === 'unit') return launch('unit', args.slice(1))
  const program = programs[name]
  if (!program) throw new Error(`scripts/run.mjs knows ${Object.keys(programs).join(', ')}, not "${name}"`)
  await ensureInstalled(root)
  const node = chooseNode(join(root, 'node_modules', '.bin', 'node'), process)
  if (program.console) await ensureConsole(root, node)
  const entry = join(root, program.entry)
  const all = [...program.args, ...args]
  if (realpathSync(process.execPath) === realpathSync(node)) {
    process.argv = [process.execPath, entry, ...all]
    modules.enableCompileCache?.(compiled)
    await import(pathToFileURL(entry).href)
  } else {
    await passOn(node, entry, all)
  }
}

/** The Node that the dependencies brought, or this one where there is none for the platform and this one will do. */
export function chooseNode(brought, { execPath, versions, platform, arch }) {
  if (existsSync(brought)) return brought
  if (Number(versions.node.split('.')[0]) >= oldestForSources) return execPath
  throw new Error(
    `There is no Node for ${platform} on ${arch} among the dependencies (${brought}), and this one, ${versions.node}, is too old. Run Parley with Node ${oldestForSources} or later.`,
  )
}

/** Runs the program in a child, hands it every signal, and ends as it ends. */
function passOn(node, entry, args) {
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env }
  const child = spawn(node, [entry, ...args], { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // An npm that was killed outright passes nothing on.
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid !== parent && process.env.npm_lifecycle_event !== undefined) child.kill('SIGTERM')
  }, 500)
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`${node} does not run: ${error.message}`)))
    child.on('exit', (code, signal) => {
      clearInterval(watch)
      process.exitCode = code ?? 128 + constants.signals[signal]
      resolve()
    })
  })
}
