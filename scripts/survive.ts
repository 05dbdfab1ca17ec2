// Kills processes and fills disks of a real installation and checks that it recovers: `npm run survive [trial…]`. Prints one
// line per trial and a summary; the exit code is 1 if a trial failed. It uses its own folder and takes a few minutes. The tests
// check the same guarantees one by one; this script runs npm, acts at random moments and, as root, on full disks.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '../server/src/db/embedded/processes.ts'
import { bundleOf } from './prepare.mjs'

const root = join(import.meta.dirname, '..')
const isRoot = process.getuid?.() === 0
const folder = mkdtempSync(join(tmpdir(), 'parley-survive-'))
execFileSync('chmod', ['711', folder])

interface Trial {
  name: string
  asRoot?: true
  run(dataDir: string): Promise<string>
}

const trials: Trial[] = [
  {
    name: 'every start after the first is ready within 3 seconds',
    async run(dataDir) {
      await stop(await start(dataDir))
      const times: number[] = []
      for (let round = 0; round < 3; round++) {
        const began = Date.now()
        const service = await start(dataDir)
        times.push(Date.now() - began)
        expect(!service.output().includes('prl_'), 'a later start printed a secret')
        await stop(service)
      }
      expect(Math.min(...times) < 3000, `it took ${times.join(', ')} ms`)
      return `${times.join(', ')} ms`
    },
  },
  {
    name: 'kill -9 of the service, npm or both at ten random moments: no acknowledged write is lost',
    async run(dataDir) {
      const acknowledged: string[] = []
      const moments: string[] = []
      for (let round = 0; round < 10; round++) {
        const service = spawnNpmStart(dataDir)
        const ms = Math.round(Math.random() * 3000)
        const writing = round % 2 ? createWorkspace(dataDir, `round ${round}`) : undefined
        await sleep(ms)
        const victim = (['group', 'npm', 'node'] as const)[round % 3] ?? 'group'
        kill(service, victim)
        await service.ended
        moments.push(`${victim} ${ms}`)
        if (await writing) acknowledged.push(`round ${round}`)
      }
      const service = await start(dataDir)
      const names = await workspaceNames(dataDir)
      for (const name of acknowledged) expect(names.includes(name), `"${name}" was acknowledged and is missing`)
      await stop(service)
      return `${acknowledged.length} acknowledged and present; ${moments.join(', ')} ms`
    },
  },
  {
    name: 'kill -9 of PostgreSQL during requests: 503 briefly, then 200 again',
    async run(dataDir) {
      const service = await start(dataDir)
      const times: number[] = []
      for (let round = 0; round < 3; round++) {
        const began = Date.now()
        const killed = postmaster(dataDir) as number
        process.kill(killed, 'SIGKILL')
        await until('PostgreSQL has restarted', () => ![undefined, killed].includes(postmaster(dataDir)))
        await until('the service is ready again', async () => (await statusOf(`${service.url}/readyz`)) === 200)
        times.push(Date.now() - began)
        expect([200, 401, 503].includes(await statusOf(`${service.url}/v1/me`)), 'an unexpected status')
      }
      await stop(service)
      return `back after ${times.join(', ')} ms`
    },
  },
  {
    name: 'SIGTERM and Ctrl-C at random moments: ends within 15 s, and PostgreSQL ends too',
    async run(dataDir) {
      await stop(await start(dataDir))
      const times: number[] = []
      for (let round = 0; round < 6; round++) {
        const service = spawnNpmStart(dataDir)
        await sleep(Math.random() * 3000)
        const began = Date.now()
        const signal = round % 2 ? 'SIGTERM' : 'SIGINT'
        const wasReady = service.output().includes('Ready at')
        process.kill(-service.pid, signal)
        await service.ended
        await until('the last process is gone', () => !isGroupAlive(service.pid))
        times.push(Date.now() - began)
        expect(postmaster(dataDir) === undefined, `PostgreSQL still runs after ${signal}`)
        expect(!wasReady || service.output().endsWith('Stopped.\n'), `it printed: ${service.output()}`)
      }
      expect(Math.max(...times) < 15_000, `it took ${times.join(', ')} ms`)
      return `${times.join(', ')} ms`
    },
  },
  {
    name: 'ten concurrent migrations of a new folder, then ten concurrent commands',
    async run(dataDir) {
      const migrated = await Promise.all(Array.from({ length: 10 }, () => parley(dataDir, ['migrate'])))
      expect(
        migrated.every(({ code }) => code === 0),
        'a migration failed',
      )
      const names = Array.from({ length: 10 }, (_, index) => `team ${index}`)
      const created = await Promise.all(names.map((name) => createWorkspace(dataDir, name)))
      expect(created.every(Boolean), 'a command failed')
      expect((await workspaceNames(dataDir)).length === 10, 'a workspace is missing')
      expect(postmaster(dataDir) === undefined, 'PostgreSQL still runs')
      return '10 created'
    },
  },
  ...[8, 20, 60, 90].map(
    (megabytes): Trial => ({
      name: `a full disk of ${megabytes} MB: one clear error, and a normal start when there is space again`,
      asRoot: true,
      run: (dataDir) => withDisk(dataDir, megabytes, () => onSmallDisk(dataDir)),
    }),
  ),
]

async function main(selected: readonly string[]): Promise<void> {
  let failed = 0
  for (const [index, trial] of trials.entries()) {
    if (selected.length > 0 && !selected.includes(String(index + 1))) continue
    const label = `${index + 1}. ${trial.name}`
    if (trial.asRoot && !isRoot) {
      console.log(`- ${label} (needs root)`)
      continue
    }
    const dataDir = join(folder, `data-${index + 1}`)
    try {
      console.log(`✓ ${label}: ${await trial.run(dataDir)}`)
    } catch (error) {
      failed++
      console.log(`✗ ${label}: ${(error as Error).message}`)
    } finally {
      for (const { pid } of started.splice(0)) attempt(() => process.kill(-pid, 'SIGKILL'))
      const left = postmaster(dataDir)
      if (left) attempt(() => process.kill(left, 'SIGKILL'))
    }
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  console.log(failed === 0 ? 'All trials passed.' : `${failed} failed.`)
  process.exitCode = failed === 0 ? 0 : 1
}

async function onSmallDisk(dataDir: string): Promise<string> {
  const migrated = await parley(dataDir, ['migrate'])
  const first =
    migrated.code === 0 ? await parley(dataDir, ['workspace', 'create', '--name', 'before', '--json']) : migrated
  // At most one line about what PostgreSQL is doing may come before it.
  const oneLine = (err: string) =>
    /^((Setting up|PostgreSQL is recovering) .*\n)?The disk with .* is full\. .*\n$/.test(err)
  if (first.code !== 0) {
    expect(oneLine(first.err), `it printed: ${first.err}`)
    execFileSync('mount', ['-o', 'remount,size=400m', dataDir])
    expect((await parley(dataDir, ['migrate'])).code === 0, 'it does not migrate although there is space again')
    expect(await createWorkspace(dataDir, 'after'), 'it does not start although there is space again')
    return 'full at the first start, fine afterwards'
  }
  const ballast = join(dataDir, 'ballast')
  fill(ballast)
  const full = await parley(dataDir, ['workspace', 'create', '--name', 'meanwhile', '--json'])
  expect(full.code === 0 || oneLine(full.err), `it printed: ${full.err}`)
  rmSync(ballast)
  execFileSync('mount', ['-o', 'remount,size=400m', dataDir])
  expect(await createWorkspace(dataDir, 'after'), 'it does not start although there is space again')
  const names = await workspaceNames(dataDir)
  expect(names.includes('before') && names.includes('after'), `there are only ${names.join(', ')}`)
  return full.code === 0 ? 'worked while full, fine afterwards' : 'reported a full disk, fine afterwards'
}

async function withDisk(dataDir: string, megabytes: number, work: () => Promise<string>): Promise<string> {
  mkdirSync(dataDir)
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', dataDir])
  try {
    return await work()
  } finally {
    const left = postmaster(dataDir)
    if (left) {
      process.kill(left, 'SIGKILL')
      await until('PostgreSQL is gone', () => !isAlive(left))
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

interface Started {
  child: ChildProcess
  pid: number
  output(): string
  ended: Promise<number | null>
}

/** The processes of a trial, killed with their process groups at its end. */
const started: Started[] = []

/** Runs `npm start` in its own process group. */
function spawnNpmStart(dataDir: string): Started {
  const env = { ...process.env, PARLEY_DATA_DIR: dataDir, PORT: '0', PARLEY_SIMULATOR_PORT: '0', LOG_LEVEL: 'error' }
  const child = spawn('npm', ['start'], { cwd: root, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const service = { child, pid: child.pid as number, output: () => output, ended }
  started.push(service)
  return service
}

async function start(dataDir: string): Promise<Started & { url: string }> {
  const service = spawnNpmStart(dataDir)
  const url = await until(`npm start is ready; it printed: ${service.output()}`, () => {
    if (service.child.exitCode !== null) throw new Error(`npm start ended: ${service.output()}`)
    return /Ready at (http:\S+)/.exec(service.output())?.[1] ?? false
  })
  await until('/readyz returns 200', async () => (await statusOf(`${url}/readyz`)) === 200)
  return { ...service, url }
}

async function stop(service: Started): Promise<void> {
  service.child.kill('SIGTERM')
  await service.ended
  await until('the last process is gone', () => !isGroupAlive(service.pid))
}

function kill(service: Started, victim: 'group' | 'npm' | 'node'): void {
  if (victim === 'group') attempt(() => process.kill(-service.pid, 'SIGKILL'))
  if (victim === 'npm') attempt(() => process.kill(service.pid, 'SIGKILL'))
  if (victim !== 'node') return
  for (const pid of groupOf(service.pid)) if (pid !== service.pid) attempt(() => process.kill(pid, 'SIGKILL'))
  // If npm had no child yet, kill npm itself.
  if (service.child.exitCode === null) service.child.kill('SIGKILL')
}

function attempt(act: () => unknown): void {
  try {
    act()
  } catch {}
}

function groupOf(pid: number): number[] {
  try {
    return execFileSync('pgrep', ['-g', String(pid)], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean)
      .map(Number)
  } catch {
    return []
  }
}

const isGroupAlive = (pid: number): boolean => groupOf(pid).some(isAlive)

interface Ended {
  code: number | null
  out: string
  err: string
}

function parley(dataDir: string, args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, PARLEY_DATA_DIR: dataDir }
  const child = spawn(process.execPath, [bundleOf(root), ...args], { env })
  const ended: Ended = { code: null, out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    ended.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    ended.err += chunk
  })
  return new Promise((resolve) => child.once('close', (code) => resolve({ ...ended, code })))
}

const createWorkspace = async (dataDir: string, name: string): Promise<boolean> =>
  (await parley(dataDir, ['workspace', 'create', '--name', name, '--json'])).code === 0

async function workspaceNames(dataDir: string): Promise<string[]> {
  const { out } = await parley(dataDir, ['workspace', 'list', '--json'])
  return (JSON.parse(out) as { data: { name: string }[] }).data.map(({ name }) => name)
}

const statusOf = (url: string): Promise<number> =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  )

function postmaster(dataDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0])
    return pid > 0 && isAlive(pid) ? pid : undefined
  } catch {
    return undefined
  }
}

function expect(condition: boolean, message: string): void {
  if (!condition) throw new Error(message)
}

async function until<T>(what: string, check: () => T | Promise<T>, timeoutMs = 60_000): Promise<Exclude<T, false>> {
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(20)) {
    const found = await check()
    if (found !== false) return found as Exclude<T, false>
  }
  throw new Error(`not within ${timeoutMs / 1000} s: ${what}`)
}

await main(process.argv.slice(2))
