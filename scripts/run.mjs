#!/usr/bin/env node
// What every npm script goes through: sees to it that the dependencies are there and current, then runs the thing on the
// Node that they bring along. Plain JavaScript, for it has to run on the Node 20 or later that a machine happens to have.
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ensureConsole } from './ensure-console.mjs'
import { ensureInstalled } from './ensure-installed.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const broughtNode = join(root, 'node_modules', '.bin', 'node')

const programs = {
  start: { entry: 'cli/src/main.ts', args: ['start'], console: true },
  parley: { entry: 'cli/src/main.ts', args: [] },
  test: { entry: 'node_modules/vitest/vitest.mjs', args: ['run'], console: true },
  check: { entry: 'scripts/check.ts', args: [] },
  bench: { entry: 'bench/src/main.ts', args: [] },
}

export async function run(name, args) {
  const program = programs[name]
  if (!program) throw new Error(`scripts/run.mjs knows ${Object.keys(programs).join(', ')}, not "${name}"`)
  await ensureInstalled(root)
  if (program.console) await ensureConsole(root, broughtNode)
  const entry = join(root, program.entry)
  const all = [...program.args, ...args]
  if (realpathSync(process.execPath) === realpathSync(broughtNode)) {
    process.argv = [process.execPath, entry, ...all]
    await import(pathToFileURL(entry).href)
  } else {
    await passOn(entry, all)
  }
}

/** Runs the program in a child, hands it every signal, and ends as it ends. */
function passOn(entry, args) {
  const child = spawn(broughtNode, [entry, ...args], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      process.exitCode = code ?? 128 + constants.signals[signal]
      resolve()
    })
  })
}

if (import.meta.filename === realpathSync(process.argv[1])) {
  const [, , name, ...args] = process.argv
  try {
    await run(name, args)
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
