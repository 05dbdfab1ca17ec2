import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { entryFor, type LockedPackage, missingPackages, withoutChecksum } from './lock-file.mjs'

const lockFile = join(import.meta.dirname, '..', 'package-lock.json')

const { packages } = JSON.parse(readFileSync(lockFile, 'utf8')) as { packages: Record<string, LockedPackage> }

/** The registry that the lock file was made with does not have these platforms of two development tools. */
const unavailable = {
  '@biomejs/cli-': [
    ...['android-arm64', 'android-x64', 'darwin-arm64', 'darwin-x64', 'linux-arm64-musl', 'linux-x64-musl'],
    ...['win32-arm64', 'win32-x64'],
  ],
  '@rolldown/binding-': [
    ...['android-arm-eabi', 'android-arm64', 'darwin-arm64', 'darwin-x64', 'freebsd-x64', 'linux-arm-gnueabihf'],
    ...['linux-arm64-musl', 'linux-ppc64-gnu', 'linux-s390x-gnu', 'linux-x64-musl', 'openharmony-arm64'],
    ...['win32-arm64-msvc', 'win32-x64-msvc'],
  ],
}

test('every package has a checksum, except these platforms of development tools', () => {
  const missing = withoutChecksum(packages)
  const expected = Object.entries(unavailable).flatMap(([name, platforms]) => platforms.map((each) => name + each))
  expect(missing.sort(), 'run "node scripts/lock-file.mjs" and commit package-lock.json').toEqual(expected.sort())
  // The service never installs them: `npm ci --omit=dev` leaves them out, and they are for other platforms than its image.
  for (const name of missing)
    expect(packages[`node_modules/${name}`], name).toMatchObject({ dev: true, optional: true })
  for (const platform of ['linux-x64', 'linux-arm64'])
    expect(packages[`node_modules/@biomejs/cli-${platform}`]?.integrity).toMatch(/^sha512-/)
})

test('every dependency has one exact version, and scripts of packages never run', () => {
  const root = join(import.meta.dirname, '..')
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const folders = ['', 'bench/', 'cli/', 'console/', 'contract/', 'sdk/src/', 'server/', 'simulator/']
  for (const folder of folders) {
    const {
      dependencies = {},
      devDependencies = {},
      optionalDependencies = {},
    } = JSON.parse(read(`${folder}package.json`))
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }))
      expect(version, `${folder}package.json: ${name}`).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
  }
  expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m)
  expect(read('Dockerfile')).toContain('npm ci --ignore-scripts')
})

test('a package in a nested folder needs a checksum, a link does not', () => {
  const nested = { 'node_modules/a/node_modules/b': {}, 'node_modules/c': { link: true }, server: {} }
  expect(withoutChecksum({ ...nested, 'node_modules/d': { integrity: 'sha512-x' } })).toEqual(['b'])
})

test('the lock file has the packages of every platform', () => {
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
