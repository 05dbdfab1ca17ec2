import { join } from 'node:path'
import { expect, test } from 'vitest'
import { spawnNode } from '../server/testing/parley.ts'
import { chooseNode } from './launch.mjs'

const machine = { execPath: '/usr/bin/node', platform: 'linux', arch: 'riscv64' }

test('the Node that the dependencies bring comes first', () => {
  expect(chooseNode(process.execPath, { ...machine, versions: { node: '20.0.0' } })).toBe(process.execPath)
})

test('without it the machine’s own will do, if it is new enough to run the sources', () => {
  expect(chooseNode('/none', { ...machine, versions: { node: '24.0.0' } })).toBe('/usr/bin/node')
  expect(() => chooseNode('/none', { ...machine, versions: { node: '22.1.0' } })).toThrow(
    'There is no Node for linux on riscv64 among the dependencies (/none), and this one, 22.1.0, is too old. Run Parley with Node 24 or later.',
  )
})

const run = join(import.meta.dirname, 'run.mjs')

test('a Node that is too old is told so', async () => {
  const pretend = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.19.0' } })"
  const asOld = ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`]
  for (const script of [[run, 'start'], [join(import.meta.dirname, 'parley.mjs')]]) {
    const { code, out, err } = await spawnNode([...asOld, ...script], {}).ended
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe(`Parley needs Node 20 or later to start; this is Node 18.19.0 (${process.execPath}).\n`)
  }
})

test('a script that there is not is told in one line', async () => {
  const { code, err } = await spawnNode([run, 'fly'], {}).ended
  expect(code).toBe(1)
  expect(err).toMatch(/^scripts\/run\.mjs knows start, parley, .*, not "fly"\n$/)
})

test('the command’s output is its own, through every layer', async () => {
  const { code, out, err } = await spawnNode([join(import.meta.dirname, 'parley.mjs'), '--version'], {}).ended
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^\d+\.\d+\.\d+\n$/)
})
