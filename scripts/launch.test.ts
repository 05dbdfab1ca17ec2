import { execFileSync, spawn } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { childEnv } from '../server/testing/child-env.ts'
import { newDatabase } from '../server/testing/database.ts'
import { spawnNode } from '../server/testing/parley.ts'
import { urlOf } from '../server/testing/service.ts'
import { until } from '../server/testing/until.ts'
import { chooseNode, serviceFlags } from './launch.mjs'

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
  for (const script of [[run, 'start'], [join(import.meta.dirname, 'parley.mjs')]]) {
    const { code, out, err } = await spawnNode([...asOld, ...script], {}).ended
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe(`Parley needs Node 20 or later. This is Node 18.19.0 (${process.execPath}).\n`)
  }
})

test('an unknown script prints one line', async () => {
  const { code, err } = await spawnNode([run, 'fly'], {}).ended
  expect(code).toBe(1)
  expect(err).toMatch(/^Unknown script "fly"\. scripts\/run\.mjs can run: start, parley, .*\n$/)
})

test('a command prints only its own output', async () => {
  const { code, out, err } = await spawnNode([join(import.meta.dirname, 'parley.mjs'), '--version'], {}).ended
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/)
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
  await until('it listens', () => out.includes('"url"'))
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  const ofService = processes.filter((line) => line.trim().split(/\s+/, 2).includes(String(child.pid)))
  expect(ofService).toHaveLength(1)
  expect(ofService[0]).toContain(
    `${serviceFlags.join(' ')} ${join(import.meta.dirname, '..', 'cli/src/main.ts')} start`,
  )
}, 120_000)

test('the container uses the same settings of V8', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '..', 'Dockerfile'), 'utf8')
  expect(dockerfile).toContain(`exec node ${serviceFlags.join(' ')} /app/cli/src/main.ts`)
})
