import { spawn } from 'node:child_process'
import { join } from 'node:path'
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
}

/** How long commands take from the shell, next to a Node that does nothing. */
export async function benchCommands(scope: Scope): Promise<Row[]> {
  const missing = join(scope.newFolder(), 'missing')
  const filled = scope.newFolder()
  await scope.part((part) => part.openStore(filled))
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
      name: 'npx parley workspace list, no database',
      command: ['npx', 'parley', 'workspace', 'list'],
      dataDir: missing,
      code: 1,
    },
  ]
  const byName = new Map(timed.map((each) => [each.name, each]))

  async function measure(name: string): Promise<number> {
    const { command, dataDir, code } = byName.get(name) as Timed
    const began = performance.now()
    const ended = await exitCodeOf(command, dataDir)
    if (ended !== code) scope.fault(`${name} ended with ${ended} instead of ${code}`)
    return performance.now() - began
  }

  for (const name of byName.keys()) await measure(name)
  const measured = await inTurn([...byName.keys()], rounds, measure)
  return timed.map(({ name, target }) =>
    rowOf(measured, (ms) => ms, { what: name, unit: 'ms', subject: name, ...(target && { target }) }),
  )
}

function exitCodeOf([program, ...args]: readonly [string, ...string[]], dataDir: string): Promise<number | null> {
  const env = { ...process.env, PARLEY_DATA_DIR: dataDir }
  const child = spawn(program, args, { cwd: root, env, stdio: 'ignore' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', resolve)
  })
}
