import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { bundleOf } from '../../scripts/prepare.mjs'
import { isAlive } from '../src/db/embedded/processes.ts'
import { childEnv } from './child-env.ts'
import { until } from './until.ts'

const entry = bundleOf(join(import.meta.dirname, '..', '..'))

export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  out: string
  err: string
}

export interface Running {
  child: ChildProcess
  pid: number
  out(): string
  err(): string
  ended: Promise<Ended>
  hasEnded(): boolean
}

export type Environment = Record<string, string>

/** Starts the CLI in a separate process, if needed with a pipe as its keyboard. It is killed if it still runs when the test ends. */
export function spawnParley(args: readonly string[], env: Environment, input: 'pipe' | 'ignore' = 'ignore'): Running {
  return spawnNode([entry, ...args], { PARLEY_SIMULATOR_PORT: '0', ...env }, input)
}

export const parley = (args: readonly string[], env: Environment): Promise<Ended> => spawnParley(args, env).ended

export function spawnNode(args: readonly string[], env: Environment, input: 'pipe' | 'ignore' = 'ignore'): Running {
  const child = spawn(process.execPath, args, { env: { ...childEnv, ...env }, stdio: [input, 'pipe', 'pipe'] })
  let out = ''
  let err = ''
  let over = false
  child.stdout?.on('data', (chunk) => {
    out += chunk
  })
  child.stderr?.on('data', (chunk) => {
    err += chunk
  })
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      over = true
      resolve({ code, signal, out, err })
    })
  })
  const kill = () => {
    if (!over) child.kill('SIGKILL')
  }
  try {
    onTestFinished(kill)
  } catch {
    // Called in a hook, where there is no test. The test file stops the process itself.
  }
  return { child, pid: child.pid ?? -1, out: () => out, err: () => err, ended, hasEnded: () => over }
}

/** Starts the service on a free port, and waits until it prints that it is ready. */
export async function startParley(env: Environment): Promise<Running & { url: string }> {
  const running = spawnParley(['start'], { PORT: '0', ...env })
  const url = await until(
    'the service is ready',
    () => {
      if (running.hasEnded()) throw new Error(`the service exited instead:\n${running.out()}${running.err()}`)
      return /Ready at (http:\S+)/.exec(running.out())?.[1]
      // A first start sets up PostgreSQL, which takes long on a busy machine.
    },
    120_000,
  )
  return { ...running, url }
}

export const isGone = (pid: number | undefined): boolean => pid === undefined || !isAlive(pid)
