import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { isAlive } from '@parley/server/db/embedded/processes'
import { bundleOf } from '../../../scripts/prepare.mjs'
import { childEnv } from '../../../server/testing/child-env.ts'
import { postmasterPid } from '../../../server/testing/data-dir.ts'
import { until } from '../../../server/testing/until.ts'
import { attempt } from './run-scenario.ts'

const root = join(import.meta.dirname, '..', '..', '..')

export interface NpmStart {
  child: ChildProcess
  output(): string
  ended: Promise<unknown>
}

/**
 * Runs `npm start` as a user does. npm, its shell and the service are in the process group of the scenario, so that they end with
 * it. A scenario runs one at a time.
 */
export function spawnNpmStart(dataDir: string): NpmStart {
  const child = spawn('npm', ['start'], {
    cwd: root,
    env: { ...process.env, PARLEY_DATA_DIR: dataDir, PORT: '0', PARLEY_SIMULATOR_PORT: '0', LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return { child, output: () => output, ended: new Promise((resolve) => child.once('exit', resolve)) }
}

/** Waits until the service is ready, and returns how long that took. */
export async function untilReady({ child, output }: NpmStart): Promise<number> {
  const began = performance.now()
  const url = await until('npm start is ready', () => {
    if (child.exitCode !== null) throw new Error(`npm start ended: ${output()}`)
    return /Ready at (http:\S+)/.exec(output())?.[1]
  })
  await until('/readyz returns 200', () => fetch(`${url}/readyz`).then(({ ok }) => ok))
  return Math.round(performance.now() - began)
}

/** Sends a signal to npm, its shell and the service, as a terminal does, and waits until all of them have ended. */
export async function signalAll({ ended }: NpmStart, signal: NodeJS.Signals): Promise<void> {
  for (const pid of processes()) attempt(() => process.kill(pid, signal))
  await ended
  await until('the last process has ended', () => processes().length === 0)
}

/** The other processes of this scenario. PostgreSQL and commands have process groups of their own. */
export function processes(): number[] {
  try {
    return execFileSync('pgrep', ['-g', '0'], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean)
      .map(Number)
      .filter((pid) => pid !== process.pid && isAlive(pid))
  } catch {
    return []
  }
}

/** The PostgreSQL that runs on a data directory. */
export function postgresOf(dataDir: string): number | undefined {
  const pid = postmasterPid(dataDir)
  return pid !== undefined && isAlive(pid) ? pid : undefined
}

/** Runs a command of `parley`, in a process group of its own: a fault of the service does not hit it. */
export function runCommand(dataDir: string, args: readonly string[]): Promise<{ code: number | null } & Printed> {
  const child = spawn(process.execPath, [bundleOf(root), ...args], {
    env: { ...childEnv, PARLEY_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const printed: Printed = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    printed.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    printed.err += chunk
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...printed })))
}

interface Printed {
  out: string
  err: string
}

export const createWorkspace = async (dataDir: string, name: string): Promise<boolean> =>
  (await runCommand(dataDir, ['workspace', 'create', '--name', name, '--json'])).code === 0

export async function workspaceNames(dataDir: string): Promise<string[]> {
  const { out } = await runCommand(dataDir, ['workspace', 'list', '--json'])
  return (JSON.parse(out) as { data: { name: string }[] }).data.map(({ name }) => name)
}
