import { execFileSync, fork } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stopPostmaster } from '@parley/server/db/embedded/postmaster'
import { newFolder, postmasterPid, removeFolder } from '../../../server/testing/data-dir.ts'
import type { Outcome } from './scenario.ts'

/** For scenarios that name no limit. Those without a big table take less than two minutes on two cores. */
const defaultLimitSeconds = 600

/** What the process of a scenario sends. */
export type FromScenario = { say: string } | { outcome: Outcome }

/**
 * Runs a scenario in its own process group with its own folder. When it ends, fails, takes too long or is interrupted by the signal,
 * all its processes are killed and the folder is removed.
 */
export async function runScenario(
  file: string,
  options: { limitSeconds?: number | undefined; say(line: string): void; signal: AbortSignal },
): Promise<Outcome> {
  const { limitSeconds = defaultLimitSeconds, say, signal } = options
  const folder = newFolder('parley-reliability-')
  const child = fork(join(import.meta.dirname, 'scenario-process.ts'), [file], {
    detached: true,
    env: { ...process.env, PARLEY_TEST_FOLDER: folder },
  })
  let outcome: Outcome = { figure: 'it ended without a result', ok: false }
  const kill = () => killGroup(child.pid)
  const timer = setTimeout(() => {
    outcome = { figure: `not finished within ${limitSeconds} s`, ok: false }
    child.removeAllListeners('message')
    kill()
  }, limitSeconds * 1000)
  signal.addEventListener('abort', kill)
  child.on('message', (message: FromScenario) => {
    if ('say' in message) say(message.say)
    else outcome = message.outcome
  })
  try {
    await new Promise((resolve) => child.once('exit', resolve))
    return outcome
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', kill)
    kill()
    await stopPostgresIn(folder)
    for (const disk of foldersIn(folder).filter(isMounted)) execFileSync('umount', ['-l', disk])
    removeFolder(folder)
  }
}

/** Also kills processes that were stopped with SIGSTOP. */
function killGroup(pid: number | undefined): void {
  if (pid !== undefined) attempt(() => process.kill(-pid, 'SIGKILL'))
}

/**
 * PostgreSQL and its server processes have process groups of their own. If it is killed at once, its shared memory stays, so it gets some
 * time to stop, even if it is frozen.
 */
export async function stopPostgresIn(folder: string): Promise<void> {
  const dataDirs = [folder, ...foldersIn(folder), ...foldersIn(folder).flatMap(foldersIn)]
  for (const pid of dataDirs.flatMap((dataDir) => postmasterPid(dataDir) ?? [])) {
    const all = [pid, ...childrenOf(pid)]
    for (const each of all) attempt(() => process.kill(each, 'SIGCONT'))
    await stopPostmaster(pid, 2_000)
    for (const each of all) attempt(() => process.kill(each, 'SIGKILL'))
  }
}

const foldersIn = (folder: string): string[] => {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name !== 'postgres')
      .map(({ name }) => join(folder, name))
  } catch {
    return []
  }
}

/** An interrupted scenario leaves the disks that it has mounted. */
const isMounted = (folder: string): boolean => statSync(folder).dev !== statSync(dirname(folder)).dev

export function childrenOf(pid: number): number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean)
      .map(Number)
  } catch {
    return []
  }
}

export function attempt(act: () => unknown): void {
  try {
    act()
  } catch {
    // The process has ended already.
  }
}
