import { execFileSync, spawn } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { childEnv } from '../server/testing/child-env.ts'
import { newDatabase } from '../server/testing/database.ts'
import { spawnNode } from '../server/testing/parley.ts'
import { urlOf } from '../server/testing/service.ts'
import { until } from '../server/testing/until.ts'
import { chooseNode, serviceFlags } from './launch.mjs'
import { prepare } from './prepare.mjs'

const machine = { execPath: '/usr/bin/node', platform: 'linux', arch: 'riscv64' }

test('the bundled Node is preferred', () => {
  expect(chooseNode(process.execPath, { ...machine, versions: { node: '20.0.0' } })).toBe(process.execPath)
})

test('without a bundled Node, an installed Node is used if it is new enough', () => {
  expect(chooseNode('/none', { ...machine, versions: { node: '24.0.0' } })).toBe('/usr/bin/node')
  expect(() => chooseNode('/none', { ...machine, versions: { node: '22.1.0' } })).toThrow(
    'Parley has no bundled Node for linux on riscv64 (/none), and the installed Node 22.1.0 is too old. Install Node 24 or later.',
  )
})

const run = join(import.meta.dirname, 'run.mjs')

test('a Node that is too old prints which version is needed', async () => {
  const fakeVersion = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.19.0' } })"
  const asOld = ['--import', `data:text/javascript,${encodeURIComponent(fakeVersion)}`]
  const { code, out, err } = await spawnNode([...asOld, run, 'start'], {}).ended
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toBe(`Parley needs Node 20 or later. This is Node 18.19.0 (${process.execPath}).\n`)
})

test('an unknown script prints one line', async () => {
  const { code, err } = await spawnNode([run, 'fly'], {}).ended
  expect(code).toBe(1)
  expect(err).toMatch(/^Unknown script "fly"\. scripts\/run\.mjs can run: start, parley, .*\n$/)
})

test('a command prints only its own output', async () => {
  const { code, out, err } = await spawnNode([run, 'parley', '--version'], {}).ended
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/)
})

/** A project whose parts only say that they were run, and `parley` in it. */
function projectWithFakes() {
  const root = mkdtempSync(join(tmpdir(), 'parley-bin-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { mode: 0o755 })
  }
  write('cli/bin/parley', readFileSync(join(import.meta.dirname, '..', 'cli', 'bin', 'parley'), 'utf8'))
  write('bin/node', '#!/bin/sh\necho "prepare $*"\n')
  write('node_modules/.bin/node', '#!/bin/sh\necho "run $*"\n')
  for (const lock of ['package-lock.json', 'node_modules/.package-lock.json']) write(lock, '{}')
  symlinkSync(readlinkSync(join(import.meta.dirname, '..', 'parley')), join(root, 'parley'))
  // As npm links the command of a workspace.
  mkdirSync(join(root, 'node_modules', '@parley'))
  symlinkSync('../../cli', join(root, 'node_modules', '@parley', 'cli'))
  symlinkSync('../@parley/cli/bin/parley', join(root, 'node_modules', '.bin', 'parley'))
  return {
    write,
    touch(path: string, seconds: number) {
      write(path, '')
      utimesSync(join(root, path), seconds, seconds)
    },
    remove: (path: string) => rmSync(join(root, path)),
    parley: (...words: string[]) => run(join(root, 'node_modules', '.bin', 'parley'), words),
    root,
    run,
  }

  function run(program: string, words: string[], cwd = tmpdir()): string {
    // `cd` with CDPATH would look in other folders first.
    const env = { PATH: `${join(root, 'bin')}:${process.env.PATH}`, CDPATH: '/usr' }
    return execFileSync(program, words, { encoding: 'utf8', cwd, env }).replaceAll(`${realpathSync(root)}/`, '')
  }
}

test('parley runs the bundle while it is current, and prepares first otherwise', () => {
  const { parley, touch, remove, root } = projectWithFakes()
  const prepares = 'prepare scripts/run.mjs parley key list\n'
  expect(parley('key', 'list')).toBe(prepares)
  const sources = ['cli', 'server', 'simulator', 'contract', 'sdk'].map((name) => `${name}/src/a.ts`)
  const all = [...sources, 'scripts/bundle.mjs', 'package-lock.json', 'node_modules/.package-lock.json']
  for (const path of all) touch(path, 110)
  for (const path of sources) utimesSync(dirname(join(root, path)), 110, 110)
  touch('cli/dist/main.mjs', 120)
  expect(parley('key', 'list', '--workspace', 'two words')).toBe(
    'run cli/dist/main.mjs key list --workspace two words\n',
  )
  // The service has settings of V8 and needs the console.
  expect(parley('start', '--json')).toBe('prepare scripts/run.mjs parley start --json\n')
  for (const path of all) {
    touch(path, 130)
    expect(parley('key', 'list')).toBe(prepares)
    touch(path, 110)
  }
  expect(parley('key', 'list')).toMatch(/^run /)
  remove('server/src/a.ts')
  expect(parley('key', 'list')).toBe(prepares)
})

test('./parley runs the same command from any working directory, through links, and without a path', () => {
  const { run, root } = projectWithFakes()
  const other = mkdtempSync(join(tmpdir(), 'parley-other-'))
  onTestFinished(() => rmSync(other, { recursive: true }))
  symlinkSync(join(root, 'parley'), join(other, 'parley'))
  symlinkSync('parley', join(other, 'again'))
  const prepares = 'prepare scripts/run.mjs parley mcp\n'
  expect(run(join(root, 'parley'), ['mcp'], other)).toBe(prepares)
  expect(run('./again', ['mcp'], other)).toBe(prepares)
  expect(run('./parley', ['mcp'], root)).toBe(prepares)
  expect(run('cli/bin/parley', ['mcp'], root)).toBe(prepares)
  expect(run('sh', ['parley', 'mcp'], root)).toBe(prepares)
})

test('the sources are bundled if one of them has changed; if that fails, they run as they are', () => {
  const { root, touch, remove, write } = projectWithFakes()
  for (const name of ['cli', 'server', 'simulator', 'contract', 'sdk']) touch(`${name}/src/a.ts`, 100)
  for (const path of ['scripts/bundle.mjs', 'package-lock.json', 'node_modules/.package-lock.json']) touch(path, 100)
  const bundle = join(root, 'cli', 'dist', 'main.mjs')
  const builder = join(root, 'bin', 'builder')
  write('bin/builder', `#!/bin/sh\nmkdir -p "${dirname(bundle)}" && date > "${bundle}"\n`)
  const isBuilt = (path: string) => {
    rmSync(bundle, { force: true })
    touch('cli/dist/main.mjs', 2_000_000_000)
    touch(path, 2_000_000_100)
    prepare(root, builder)
    const built = statSync(bundle).mtimeMs !== 2_000_000_000_000
    touch(path, 100)
    return built
  }
  expect(['server/src/a.ts', 'contract/src/a.ts', 'package-lock.json'].map(isBuilt)).toEqual([true, true, true])
  expect(['server/src/a.test.ts', 'docs/a.md'].map(isBuilt)).toEqual([false, false])
  remove('cli/dist/main.mjs')
  expect(prepare(root, builder)).toBe(bundle)
  remove('cli/dist/main.mjs')
  expect(prepare(root, '/not/there')).toBe(join(root, 'cli', 'src', 'main.ts'))
})

test('the service replaces the process that was started with another Node, and runs with its settings of V8', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-node-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const otherNode = join(folder, 'node')
  copyFileSync(process.execPath, otherNode)
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const env = {
    ...childEnv,
    DATABASE_URL: urlOf(connection),
    PARLEY_SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
    PORT: '0',
  }
  const child = spawn(otherNode, [run, 'parley', 'start', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await exited
  })
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  await until('it listens', () => out.includes('"url"'), 100_000)
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  const ofService = processes.filter((line) => line.trim().split(/\s+/, 2).includes(String(child.pid)))
  expect(ofService).toHaveLength(1)
  expect(ofService[0]).toContain(
    `${serviceFlags.join(' ')} ${join(import.meta.dirname, '..', 'cli/dist/main.mjs')} start`,
  )
})

test('the container uses the same settings of V8', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '..', 'Dockerfile'), 'utf8')
  expect(dockerfile).toContain(`exec node ${serviceFlags.join(' ')} /app/cli/dist/main.mjs`)
})
