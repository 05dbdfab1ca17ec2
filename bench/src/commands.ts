import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTurn, rowOf } from './lib/in-turn.ts'
import type { Scope } from './lib/scope.ts'
import { numberSetting } from './lib/settings.ts'
import type { Row } from './lib/table.ts'

const rounds = numberSetting('BENCH_COMMAND_ROUNDS', 15)
const targetMs = 250
const root = join(import.meta.dirname, '..', '..')

interface Subject {
  words: readonly string[]
  cwd?: string
  /** For the time that is ours. The start of npm is not. */
  isOurs?: boolean
}

/** How long commands take from start to end, next to an empty program on the same Node, and next to what `npx` takes itself. */
export async function benchCommands(scope: Scope): Promise<Row[]> {
  const [none, dataDir, project] = [scope.newFolder(), scope.newFolder(), emptyProject(scope.newFolder())]
  const parley = join(root, 'node_modules', '.bin', 'parley')
  await time([parley, 'migrate'], dataDir)
  const node = join(root, 'node_modules', '.bin', 'node')
  const subjects: Readonly<Record<string, Subject>> = {
    'node -e 0': { words: [node, '-e', '0'] },
    'parley --help': { words: [parley, '--help'], isOurs: true },
    'parley -v': { words: [parley, '-v'], isOurs: true },
    'parley wrkspace list (mistyped)': { words: [parley, 'wrkspace', 'list'], isOurs: true },
    'parley workspace list, without a database': { words: [parley, 'workspace', 'list'], isOurs: true },
    'parley workspace list, starts and stops PostgreSQL': { words: [parley, 'workspace', 'list'] },
    'npx, a program that does nothing': { words: ['npx', 'nothing'], cwd: project },
    'npx parley -v': { words: ['npx', 'parley', '-v'] },
  }
  const folderOf = (name: string) => (name.includes('starts and stops') ? dataDir : none)
  const measured = await inTurn(Object.keys(subjects), rounds, async (name) => {
    const { words, cwd } = subjects[name] as Subject
    return time(words, folderOf(name), cwd)
  })
  return Object.entries(subjects).map(([subject, { isOurs }]) =>
    rowOf(measured, (ms) => ms, {
      what: subject,
      unit: 'ms',
      subject,
      ...(isOurs && { target: { atMost: targetMs } }),
    }),
  )
}

/** A project with a command that does nothing, as npm would have linked it. */
function emptyProject(folder: string): string {
  mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"name":"empty","private":true}')
  const file = join(folder, 'node_modules', '.bin', 'nothing')
  writeFileSync(file, '#!/bin/sh\n')
  chmodSync(file, 0o755)
  return folder
}

/** Milliseconds from the start of a command to its end. */
function time([command = '', ...args]: readonly string[], dataDir: string, cwd = root): Promise<number> {
  const began = performance.now()
  const env = { ...process.env, PARLEY_DATA_DIR: dataDir, NODE_COMPILE_CACHE: undefined, DATABASE_URL: undefined }
  const child = spawn(command, args, { cwd, env, stdio: 'ignore' })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => resolve(performance.now() - began))
  })
}
