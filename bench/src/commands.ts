import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { cpuUsOf, endedChildrenCpuUs } from './lib/cpu.ts'
import { inTurn, rowOf } from './lib/in-turn.ts'
import type { Scope } from './lib/scope.ts'
import type { Row, Target } from './lib/table.ts'

const root = join(import.meta.dirname, '..', '..')
const parley = join(root, 'node_modules', '.bin', 'parley')
const rounds = 11

interface Timed {
  name: string
  command: readonly [program: string, ...args: string[]]
  dataDir: string
  code: number
  target?: Target
  cpuTarget?: Target
  /** It is measured until it is ready, then stopped. */
  isService?: true
}

/** How long commands take from the shell, next to a Node that does nothing, and the CPU time of those with a target for it. */
export async function benchCommands(scope: Scope): Promise<Row[]> {
  const missing = join(scope.newFolder(), 'missing')
  const filled = scope.newFolder()
  await scope.part((part) => part.openStore(filled))
  const running = scope.newFolder()
  await scope.openStore(running)
  const quick = { dataDir: missing, target: { atMost: 250 } }
  const timed: Timed[] = [
    { name: 'node -e 0', command: [process.execPath, '-e', '0'], dataDir: missing, code: 0 },
    { name: 'parley --help', command: [parley, '--help'], code: 0, ...quick },
    { name: 'parley -v', command: [parley, '-v'], code: 0, ...quick },
    { name: 'a mistyped command', command: [parley, 'wrokspace', 'list'], code: 1, ...quick },
    { name: 'parley workspace list, no database', command: [parley, 'workspace', 'list'], code: 1, ...quick },
    {
      name: 'parley workspace list, database not running',
      command: [parley, 'workspace', 'list'],
      dataDir: filled,
      code: 0,
    },
    {
      name: 'parley workspace list',
      command: [parley, 'workspace', 'list'],
      dataDir: running,
      code: 0,
      cpuTarget: { atMost: 0.2 },
    },
    {
      name: 'parley start, until it is ready',
      command: [parley, 'start', '--json'],
      dataDir: filled,
      code: 0,
      cpuTarget: { atMost: 1 },
      isService: true,
    },
    {
      name: 'npx parley workspace list, no database',
      command: ['npx', 'parley', 'workspace', 'list'],
      dataDir: missing,
      code: 1,
    },
  ]
  const byName = new Map(timed.map((each) => [each.name, each]))

  async function measure(name: string): Promise<{ ms: number; cpuSeconds: number }> {
    const { command, dataDir, code, isService } = byName.get(name) as Timed
    const cpuBefore = endedChildrenCpuUs()
    const began = performance.now()
    const child = run(command, dataDir)
    const exited = once(child, 'exit')
    if (isService) await Promise.race([once(child.stdout, 'data'), exited])
    else await exited
    const ms = performance.now() - began
    const cpuUs = isService ? cpuUsOf(child.pid ?? 0) : endedChildrenCpuUs() - cpuBefore
    if (isService) child.kill('SIGTERM')
    const [ended] = await exited
    if (ended !== code) scope.fault(`${name} ended with ${ended} instead of ${code}`)
    return { ms, cpuSeconds: cpuUs / 1e6 }
  }

  for (const name of byName.keys()) await measure(name)
  const measured = await inTurn([...byName.keys()], rounds, measure)
  return timed.flatMap(({ name, target, cpuTarget }) => [
    rowOf(measured, ({ ms }) => ms, { what: name, unit: 'ms', subject: name, ...(target && { target }) }),
    ...(cpuTarget
      ? [
          rowOf(measured, ({ cpuSeconds }) => cpuSeconds, {
            what: `${name}: CPU`,
            unit: 's',
            subject: name,
            target: cpuTarget,
          }),
        ]
      : []),
  ])
}

function run(
  [program, ...args]: readonly [string, ...string[]],
  dataDir: string,
): ChildProcessByStdio<null, Readable, null> {
  const env = { ...process.env, PARLEY_DATA_DIR: dataDir, PORT: '0', PARLEY_SIMULATOR_PORT: '0' }
  return spawn(program, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'ignore'] })
}
