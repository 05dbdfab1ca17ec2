import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { newFolder, removeFolder } from '../server/testing/data-dir.ts'
import { tempFolder } from '../server/testing/temp-folder.ts'
import { bundleOf } from './prepare.mjs'
import { nextSteps } from './release-builds.ts'
import { findProblems, readVersion } from './release-checks.ts'

const root = join(import.meta.dirname, '..')
const left = new Set(['node_modules', 'dist', 'screenshots', 'data', '.git', 'e2e', 'bench-results'])

interface Sbom {
  bomFormat: string
  metadata: { component: { name: string; type: string } }
  components: { name: string; version: string; purl: string; hashes?: { alg: string; content: string }[] }[]
}

/** A copy of this project with a section for its version in the changelog, committed. */
let project: string
/** Of the release, if this machine can build one. */
let releasedSbom: string | undefined
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

    expect(git('tag', '--list').toString()).toBe('first\n')

    // The same sources give the same bytes. sdk/build/pack.test.ts builds the TypeScript SDK twice.
    releasedSbom = readFileSync(join(out, 'parley-0.1.0.sbom.cdx.json'), 'utf8')
    const again = tempFolder()
    execFileSync('python3', [join(project, 'sdk', 'build', 'python_package.py'), again])
    for (const name of [wheel, 'parley_sdk-0.1.0.tar.gz'])
      expect([name, readFileSync(join(again, name)).equals(readFileSync(join(out, name)))]).toEqual([name, true])
  },
  240_000,
)

test('npm run sbom writes a CycloneDX document of the packages that the service runs, with checksums', () => {
  const file = join(tempFolder(), 'sbom.json')
  const { status, stderr } = spawnSync('npm', ['run', 'sbom', '--', file], { cwd: project, encoding: 'utf8' })
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' })
  const text = readFileSync(file, 'utf8')
  // The same as in the release.
  if (releasedSbom) expect(text).toBe(releasedSbom)
  const { bomFormat, metadata, components } = JSON.parse(text) as Sbom
  expect({ bomFormat, ...metadata.component }).toMatchObject({
    bomFormat: 'CycloneDX',
    name: 'parley',
    type: 'application',
  })
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; dev?: boolean; link?: boolean }>
  }
  const fastify = components.find(({ name }) => name === 'fastify')
  expect(fastify).toMatchObject({
    version: lock.packages['node_modules/fastify']?.version,
    hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
  })
  const names = components.map(({ name }) => name)
  for (const development of ['vitest', 'typescript', 'playwright-core']) expect(names).not.toContain(development)
  // Every package of the lock file that is not for development, and the workspaces of this repository.
  const installed = Object.entries(lock.packages).filter(
    ([path, { dev, link }]) => /(^|\/)node_modules\//.test(path) && !dev && !link,
  )
  const expected = installed.map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')}@${version}`)
  const listed = components.map(({ purl }) => decodeURIComponent(purl.replace('pkg:npm/', '')))
  expect([...new Set(expected)].filter((each) => !listed.includes(each))).toEqual([])
  const unhashed = components.filter(({ hashes }) => !hashes).map(({ purl }) => decodeURIComponent(purl))
  expect(unhashed.filter((purl) => !purl.startsWith('pkg:npm/@parley/'))).toEqual([])
})

test('without --dry-run, a release says what a person does next', () => {
  expect(nextSteps('out', '0.1.0')).toMatch(
    /1\. git tag -s v0\.1\.0 .*\n.*git push origin v0\.1\.0\n.*npm publish \S+parley-sdk-0\.1\.0\.tgz.*\n.*twine upload \S+parley_sdk-0\.1\.0\*/,
  )
})

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
