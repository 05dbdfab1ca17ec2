// Installs the dependencies if needed, then runs a program with the Node that is one of them. Plain JavaScript, because it
// has to run with any installed Node from version 20 on.
import { spawn } from 'node:child_process'
import { existsSync, realpathSync } from 'node:fs'
import * as modules from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ensureConsole } from './ensure-console.mjs'
import { ensureInstalled } from './ensure-installed.mjs'
import { cacheOf, prepare } from './prepare.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The oldest Node that runs TypeScript without a build. */
const oldestForSources = 24

/** Those without an entry run the bundle, and `startsServices` run it in other processes. Tests prepare it themselves. */
const programs = {
  start: { args: ['start'], console: true },
  parley: { args: [] },
  test: { entry: 'node_modules/vitest/vitest.mjs', args: ['run'], console: true },
  unit: { entry: 'node_modules/vitest/vitest.mjs', args: ['run', '--project', 'unit'] },
  whole: { entry: 'node_modules/vitest/vitest.mjs', args: ['run', '--project', 'whole'] },
  check: { entry: 'scripts/check.ts', args: [] },
  bench: { entry: 'bench/src/main.ts', args: [], console: true },
  release: { entry: 'scripts/release.ts', args: [] },
  reliability: { entry: 'reliability/src/main.ts', args: [], startsServices: true },
  'build-sdk': { entry: 'sdk/build/build.ts', args: [] },
  'build-testing': { entry: 'testing/build/build.ts', args: [] },
  openapi: { entry: 'scripts/openapi.ts', args: [] },
  screenshots: { entry: 'scripts/screenshots.ts', args: [], console: true },
  vectors: { entry: 'scripts/webhook-vectors.ts', args: [] },
}

/** The tests of `npm test -- postgres-15` without other arguments: those of the statements that run most often. */
const hotPaths = [
  'server/src/db/db.test.ts',
  'server/src/domain/deliveries/engine',
  'server/src/domain/messages/receiving',
]

/**
 * Settings of V8 for the service: new objects get up to three times 32 MB, and the heap may grow to twice what is in use before
 * it is collected. The Dockerfile has the same settings.
 */
export const serviceFlags = ['--max-semi-space-size=32', '--heap-growing-percent=100']

export async function launch(name, args) {
  if (name === 'test' && args[0] === 'unit') return launch('unit', args.slice(1))
  const [, major] = (name === 'test' && /^postgres-(\d+)$/.exec(args[0])) || []
  if (major) {
    process.env.PARLEY_TEST_POSTGRES = major
    return launch('whole', args.length > 1 ? args.slice(1) : hotPaths)
  }
  const program = programs[name]
  if (!program)
    throw new Error(`Unknown script "${name}". scripts/run.mjs can run: ${Object.keys(programs).join(', ')}`)
  await ensureInstalled(root)
  const node = chooseNode(join(root, 'node_modules', '.bin', 'node'), process)
  const bundle = program.entry && !program.startsServices ? null : prepare(root, node)
  if (program.console) await ensureConsole(root, node)
  const entry = program.entry ? join(root, program.entry) : bundle
  const all = [...program.args, ...args]
  const isService = !program.entry && all.find((word) => !word.startsWith('-')) === 'start'
  const flags = isService ? serviceFlags : []
  const hasFlags = flags.every((flag) => process.execArgv.includes(flag))
  if (realpathSync(process.execPath) === realpathSync(node) && hasFlags) {
    process.argv = [process.execPath, entry, ...all]
    // Also for the processes that it starts, such as those of tests.
    process.env.NODE_COMPILE_CACHE ??= cacheOf(root)
    modules.enableCompileCache?.(process.env.NODE_COMPILE_CACHE)
    await import(pathToFileURL(entry).href)
    return
  }
  const env = { NODE_COMPILE_CACHE: cacheOf(root), ...process.env }
  // The service takes the place of this process, which would otherwise keep its memory for nothing. Other programs are
  // children, because this process ends them if npm is killed; the service does that itself.
  if (isService && process.execve) process.execve(node, [node, ...flags, entry, ...all], env)
  await runChild(node, [...flags, entry, ...all], env)
}

/** The bundled Node, or this one if there is none for the platform and this one is new enough. */
export function chooseNode(bundled, { execPath, versions, platform, arch }) {
  if (existsSync(bundled)) return bundled
  if (Number(versions.node.split('.')[0]) >= oldestForSources) return execPath
  throw new Error(
    `Parley has no bundled Node for ${platform} on ${arch} (${bundled}), and the installed Node ${versions.node} is too old. Install Node ${oldestForSources} or later.`,
  )
}

/** Runs the program in a child process, forwards signals to it, and exits with its exit code. */
function runChild(node, args, env) {
  const child = spawn(node, args, { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  // If npm is killed with SIGKILL, it forwards no signal.
  const parent = process.ppid
  const parentCheck = setInterval(() => {
    if (process.ppid !== parent && process.env.npm_lifecycle_event !== undefined) child.kill('SIGTERM')
  }, 500)
  return new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Error(`${node} could not be started: ${error.message}`)))
    child.on('exit', (code, signal) => {
      clearInterval(parentCheck)
      process.exitCode = code ?? 128 + constants.signals[signal]
      resolve()
    })
  })
}
