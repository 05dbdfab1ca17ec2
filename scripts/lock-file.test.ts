import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { entryFor, type LockedPackage, missingPackages } from './lock-file.mjs'

const lockFile = join(import.meta.dirname, '..', 'package-lock.json')

test('the lock file has the packages of every platform', () => {
  const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, LockedPackage> }
  expect(Object.keys(packages).length).toBeGreaterThan(100)
  expect(
    missingPackages(packages).map(({ name }) => name),
    'run "node scripts/lock-file.mjs" and commit package-lock.json',
  ).toEqual([])
})

test('a package is missing if the dependent package would not find it', () => {
  const dependent = { optionalDependencies: { helper: '1.0.0' } }
  expect(missingPackages({ 'node_modules/a': dependent, 'node_modules/helper': {} })).toEqual([])
  expect(missingPackages({ 'node_modules/a': dependent, 'node_modules/a/node_modules/helper': {} })).toEqual([])
  expect(missingPackages({ server: dependent, 'node_modules/helper': {} })).toEqual([])
  const elsewhere = { 'node_modules/a': { ...dependent, dev: true }, 'node_modules/b/node_modules/helper': {} }
  expect(missingPackages(elsewhere)).toEqual([{ name: 'helper', version: '1.0.0', dev: true }])
})

test.each([
  ['@x/binding-linux-x64-musl', { os: ['linux'], cpu: ['x64'], libc: ['musl'] }],
  ['@x/binding-linux-arm64-gnu', { os: ['linux'], cpu: ['arm64'], libc: ['glibc'] }],
  ['@x/cli-darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }],
  ['x-win32-x64-msvc', { os: ['win32'], cpu: ['x64'] }],
])('entryFor reads the platform from the name %s', (name, platform) => {
  const entry = entryFor({ name, version: '1.2.3', dev: false })
  expect(entry).toEqual({ version: '1.2.3', optional: true, ...platform })
})
