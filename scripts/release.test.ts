import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { newFolder, removeFolder } from '../server/testing/data-dir.ts'
import { tempFolder } from '../server/testing/temp-folder.ts'
import { bundleOf } from './prepare.mjs'
import { findProblems, readVersion } from './release-checks.ts'

const root = join(import.meta.dirname, '..')
const left = new Set(['node_modules', 'dist', 'screenshots', 'data', '.git', 'e2e', 'bench-results'])

/** A copy of this project with a section for its version in the changelog, committed. */
let project: string
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...args], { cwd: project })
const change = (file: string, from: string | RegExp, to: string) => {
  const text = readFileSync(join(project, file), 'utf8')
  expect(text).toMatch(from)
  writeFileSync(join(project, file), text.replace(from, to))
}
const release = (...args: string[]) =>
  spawnSync(process.execPath, [join(project, 'scripts', 'run.mjs'), 'release', ...args], { encoding: 'utf8' })
const problems = (isDryRun = true) => findProblems(project, readVersion(project), isDryRun)

beforeAll(() => {
  project = join(newFolder(), 'project')
  cpSync(root, project, { recursive: true, filter: (file) => file === root || !left.has(basename(file)) })
  symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'))
  // Copied last, so that it is newer than its sources and not made again.
  cpSync(bundleOf(root), bundleOf(project))
  writeFileSync(join(project, '.git-exclude'), 'node_modules\n')
  change('CHANGELOG.md', '## Unreleased', '## 0.1.0 (2026-11-17)\n\nThe first release.\n\n## 0.0.9')
  git('init', '-q')
  git('config', 'core.excludesFile', join(project, '.git-exclude'))
  git('add', '.')
  git('commit', '-q', '-m', 'All of it')
  git('tag', 'first')
})
afterEach(() => void git('reset', '-q', '--hard', 'first'))
afterAll(() => removeFolder(dirname(project)))

const hasPython =
  spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 11))'], { stdio: 'ignore' }).status === 0

test.skipIf(!hasPython)(
  'npm run release -- --dry-run builds the archive, the SDKs, the SBOM, the notes and their checksums',
  () => {
    const out = tempFolder()
    const { status, stdout, stderr } = release('--dry-run', '--out', out)
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
    const wheel = 'parley_sdk-0.1.0-py3-none-any.whl'
    const files = [
      'RELEASE_NOTES.md',
      'parley-0.1.0.sbom.cdx.json',
      'parley-0.1.0.tar.gz',
      'parley-sdk-0.1.0.tgz',
      wheel,
      'parley_sdk-0.1.0.tar.gz',
    ]
    expect(readdirSync(out).sort()).toEqual(['RELEASE_NOTES.md', 'SHA256SUMS', ...files.slice(1)])
    expect(readFileSync(join(out, 'RELEASE_NOTES.md'), 'utf8')).toBe('The first release.\n')
    const sums = readFileSync(join(out, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')
    const hash = (name: string) =>
      createHash('sha256')
        .update(readFileSync(join(out, name)))
        .digest('hex')
    expect(sums).toEqual(files.map((name) => `${hash(name)}  ${name}`))
    expect(execFileSync('tar', ['tzf', join(out, 'parley-sdk-0.1.0.tgz')], { encoding: 'utf8' })).toContain(
      'package/dist/sdk.js',
    )
    const archived = execFileSync('tar', ['tzf', join(out, 'parley-0.1.0.tar.gz')], { encoding: 'utf8' })
    for (const file of ['server/package.json', 'parley']) expect(archived).toContain(`parley-0.1.0/${file}\n`)
    expect(archived).not.toContain('node_modules')
    expect(stdout).toContain('Dry run')
    expect(stdout).not.toContain('npm publish')

    // Without --dry-run, the same bytes, and what a person does next.
    const again = join(tempFolder(), 'again')
    const real = release('--out', again)
    expect(real.status).toBe(0)
    expect(real.stdout).toMatch(
      /1\. git tag -s v0\.1\.0 .*\n.*git push origin v0\.1\.0\n.*npm publish \S+parley-sdk-0\.1\.0\.tgz.*\n.*twine upload \S+parley_sdk-0\.1\.0\*/,
    )
    expect(readFileSync(join(again, 'SHA256SUMS'), 'utf8')).toBe(readFileSync(join(out, 'SHA256SUMS'), 'utf8'))
    expect(git('tag', '--list').toString()).toBe('first\n')
  },
  240_000,
)

test('npm run release refuses options that it does not know, and a folder that is not empty', () => {
  const out = tempFolder()
  writeFileSync(join(out, 'thesis.txt'), 'mine')
  const full = release('--dry-run', '--out', out)
  expect([full.status, full.stderr]).toEqual([1, `${out} is not empty. Choose another folder with --out.\n`])
  expect(readdirSync(out)).toEqual(['thesis.txt'])
  const unknown = release('--dryrun')
  expect(unknown.status).toBe(1)
  expect(unknown.stderr).toMatch(
    /^Unknown option '--dryrun'.*\nUsage: npm run release -- \[--dry-run\] \[--out <folder>\]\n$/,
  )
}, 60_000)

test('npm run release prints what has to change first', () => {
  change('CHANGELOG.md', '## 0.1.0', '## 0.0.8')
  const out = join(tempFolder(), 'out')
  const { status, stderr } = release('--dry-run', '--out', out)
  expect([status, stderr.trimEnd().split('\n')]).toEqual([
    1,
    [
      'CHANGELOG.md has no section "## 0.1.0". Rename "Unreleased" or change the version.',
      'There are changes that are not committed. Commit or remove them.',
    ],
  ])
  expect(() => readdirSync(out)).toThrow()
})

test('a release is refused if versions differ, or if changes are not committed', async () => {
  change('cli/package.json', '"version": "0.1.0"', '"version": "0.2.0"')
  change('server/package.json', '"@parley/contract": "0.1.0"', '"@parley/contract": "0.0.1"')
  change('package-lock.json', '"version": "0.1.0"', '"version": "0.0.2"')
  change('package-lock.json', /("packages": \{\s+"": \{\s+"name": "parley",\s+"version": )"0.1.0"/, '$1"0.0.2"')
  change('sdk/src/version.ts', "'0.1.0'", "'0.3.0'")
  change('sdk/python/src/parley/version.py', '0.1.0', '0.4.0')
  expect(await problems()).toEqual([
    'server/package.json has @parley/contract 0.0.1, but the version is 0.1.0.',
    'cli/package.json has version 0.2.0, but the version is 0.1.0.',
    'package-lock.json has version 0.0.2, but the version is 0.1.0.',
    'sdk/src/version.ts has version 0.3.0, but the version is 0.1.0.',
    'sdk/python/src/parley/version.py has version 0.4.0, but the version is 0.1.0.',
    'There are changes that are not committed. Commit or remove them.',
  ])
})

test('a release is refused with an empty section, changes that are not released, and a version that is invalid or has a tag', async () => {
  expect(await problems()).toEqual([])
  change('CHANGELOG.md', 'The first release.\n', '')
  git('commit', '-q', '-a', '-m', 'No notes')
  expect(await problems()).toEqual([
    'CHANGELOG.md has no section "## 0.1.0". Rename "Unreleased" or change the version.',
  ])
  git('reset', '-q', '--hard', 'first')
  change('CHANGELOG.md', '## 0.1.0', '## Unreleased\n\n- Something new.\n\n## 0.1.0')
  git('commit', '-q', '-a', '-m', 'More')
  expect(await problems()).toEqual(['CHANGELOG.md has changes under "Unreleased". Move them to "## 0.1.0".'])
  git('reset', '-q', '--hard', 'first')
  change('package.json', '"version": "0.1.0"', '"version": "0.1"')
  expect(await problems()).toEqual(['package.json has the version 0.1, which is not SemVer: use 1.2.3.'])
  git('reset', '-q', '--hard')
  git('tag', 'v0.1.0')
  expect(await problems()).toEqual([])
  expect(await problems(false)).toEqual(['The tag v0.1.0 exists. Raise the version.'])
  git('tag', '-d', 'v0.1.0')
})
