/** Whether a release can be made of what is committed. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from './release-builds.ts'

interface Manifest {
  version: string
  workspaces?: string[]
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

const semanticVersion = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

export const readVersion = (root: string): string => readManifest(root, '.').version

/** What has to change before a release, one line each. */
export async function findProblems(root: string, version: string, isDryRun: boolean): Promise<string[]> {
  if (!semanticVersion.test(version))
    return [`package.json has the version ${version}, which is not SemVer: use 1.2.3.`]
  const problems = findVersions(root)
    .filter((found) => found.version !== version)
    .map((found) => `${found.file} has ${found.name} ${found.version}, but the version is ${version}.`)
  if (notesOf(root, version) === null)
    problems.push(`CHANGELOG.md has no section "## ${version}". Rename "Unreleased" or change the version.`)
  else if (notesOf(root, 'Unreleased') !== null)
    problems.push(`CHANGELOG.md has changes under "Unreleased". Move them to "## ${version}".`)
  const status = await run({ program: 'git', args: ['status', '--porcelain'] }, root)
  if (status.code !== 0) problems.push(`git status failed: ${status.output.trim()}`)
  else if (status.output !== '') problems.push('There are changes that are not committed. Commit or remove them.')
  const tag = await run({ program: 'git', args: ['tag', '--list', `v${version}`] }, root)
  if (!isDryRun && tag.output.trim() !== '') problems.push(`The tag v${version} exists. Raise the version.`)
  return problems
}

/** Every place that names the version: packages, what they need of each other, and the SDK's own constant. */
function findVersions(root: string): { file: string; name: string; version: string }[] {
  const { workspaces = [] } = readManifest(root, '.')
  const manifests = ['sdk', ...workspaces].flatMap((folder) => {
    const manifest = readManifest(root, folder)
    const file = `${folder}/package.json`
    const needed = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    const own = needed.filter(([name]) => name.startsWith('@parley/'))
    return [
      { file, name: 'version', version: manifest.version },
      ...own.map(([name, version]) => ({ file, name, version })),
    ]
  })
  // The SBOM is made of the lock file.
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const locked = ['', ...workspaces].map((folder) => ({
    file: 'package-lock.json',
    name: folder || 'version',
    version: lock.packages[folder]?.version ?? '(none)',
  }))
  return [...manifests, ...locked, ...otherFiles.flatMap((each) => readOther(root, each))]
}

interface Lock {
  packages: Record<string, { version: string }>
}

/** Files with a version that are no package.json. Those of packages that do not exist are left out. */
const otherFiles = [
  { file: 'sdk/src/version.ts', pattern: /version = '([^']+)'/ },
  { file: 'sdk/python/pyproject.toml', pattern: /^version = "([^"]+)"/m },
  { file: 'sdk/python/src/parley/version.py', pattern: /__version__ = "([^"]+)"/ },
]

function readOther(root: string, { file, pattern }: (typeof otherFiles)[number]) {
  if (!existsSync(join(root, file))) return []
  const version = pattern.exec(readFileSync(join(root, file), 'utf8'))?.[1] ?? '(none)'
  return [{ file, name: 'version', version }]
}

const readManifest = (root: string, folder: string) =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest

/** The text of the version's section in the changelog, without its heading; null if there is none or it is empty. */
export function notesOf(root: string, version: string): string | null {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m)
  const section = sections.find((each) => each.split(/[\s\n]/, 1)[0] === version)
  const text = section?.slice(section.indexOf('\n') + 1).trim()
  return text ? `${text}\n` : null
}
