import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '@parley/server/db/embedded/processes'
import { newFolder } from '../../../server/testing/data-dir.ts'
import { until } from '../../../server/testing/until.ts'
import { createWorkspace, postgresOf, runCommand, workspaceNames } from '../lib/npm-start.ts'
import type { Scenario } from '../lib/scenario.ts'

const sizesMb = [8, 20, 60, 90]

/** The disk is full while the data directory is set up, or afterwards. Needs root, to mount small disks. */
export const scenario: Scenario = {
  name: 'full-disk',
  wanted: 'one clear error while the disk is full, and a normal start with all data when there is space again',
  async run(say) {
    if (process.getuid?.() !== 0) return { figure: 'skipped: needs root', ok: true }
    const problems: string[] = []
    for (const megabytes of sizesMb) {
      const found = await withDisk(megabytes, onSmallDisk)
      say(`${megabytes} MB: ${found.length === 0 ? 'ok' : found.join('; ')}`)
      problems.push(...found)
    }
    return {
      figure: `disks of ${sizesMb.join(', ')} MB: ${problems.length} problems`,
      ok: problems.length === 0,
    }
  },
}

async function onSmallDisk(dataDir: string): Promise<string[]> {
  const problems: string[] = []
  const check = (isRight: boolean, problem: string) => {
    if (!isRight) problems.push(problem)
  }
  const migrated = await runCommand(dataDir, ['migrate'])
  const create = (name: string) => runCommand(dataDir, ['workspace', 'create', '--name', name])
  const before = migrated.code === 0 ? await create('before') : migrated
  if (before.code === 0) {
    const ballast = join(dataDir, 'ballast')
    fill(ballast)
    const full = await create('full')
    check(full.code === 0 || isOneLine(full.err), `it printed: ${full.err}`)
    rmSync(ballast)
  } else check(isOneLine(before.err), `it printed: ${before.err}`)
  execFileSync('mount', ['-o', 'remount,size=400m', dataDir])
  check((await runCommand(dataDir, ['migrate'])).code === 0, 'it does not migrate although there is space again')
  check(await createWorkspace(dataDir, 'after'), 'it does not start although there is space again')
  const names = await workspaceNames(dataDir)
  check(names.includes('after') && (before.code !== 0 || names.includes('before')), `it stored only ${names.join()}`)
  return problems
}

/** A line about what PostgreSQL is doing may come before the error. */
const isOneLine = (err: string): boolean =>
  /^((Setting up|PostgreSQL is recovering) .*\n)?The disk with .* is full\. .*\n$/.test(err)

async function withDisk(megabytes: number, work: (dataDir: string) => Promise<string[]>): Promise<string[]> {
  const dataDir = newFolder()
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', dataDir])
  try {
    return await work(dataDir)
  } finally {
    const left = postgresOf(dataDir)
    if (left) {
      process.kill(left, 'SIGKILL')
      await until('PostgreSQL has ended', () => !isAlive(left))
    }
    execFileSync('umount', ['-l', dataDir])
  }
}

function fill(file: string): void {
  for (const size of [1 << 20, 1 << 12]) {
    try {
      for (;;) writeFileSync(file, Buffer.alloc(size), { flag: 'a' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
    }
  }
}
