import { join } from 'node:path'
import { expect, test } from 'vitest'
import { spawnNode } from '../server/testing/parley.ts'
import { chooseNode } from './launch.mjs'

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
