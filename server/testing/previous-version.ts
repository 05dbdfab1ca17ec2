import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { releasedVersion } from '../src/db/released.ts'

const root = join(import.meta.dirname, '..', '..')
const git = (...args: string[]): Buffer =>
  execFileSync('git', ['-C', root, ...args], { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'pipe'] })
const line = (...args: string[]): string =>
  git(...args)
    .toString()
    .trim()

/** What the service needs to run. The packages link to each other through node_modules/@parley. */
const packages = ['server', 'contract', 'cli', 'simulator', 'sdk', 'bench', 'console', 'scripts']

/**
 * The last commit of the main line with the schema of the last release: the one before the first that has a newer
 * migration. If there is none yet, it is the current commit. Or why it cannot be found.
 */
export function findPrevious(): { commit: string } | { missing: string } {
  try {
    const next = String(releasedVersion + 1).padStart(4, '0')
    const [first] = line('log', '--first-parent', '--format=%H', '--', `server/migrations/${next}_*.sql`)
      .split('\n')
      .reverse()
    return { commit: line('rev-parse', '--verify', first ? `${first}^` : 'HEAD') }
  } catch (error) {
    const reason =
      (error as Error).message.split('\n').find((each) => each.startsWith('fatal')) ?? 'git is not installed'
    return { missing: `there is no git history with the last release: ${reason}` }
  }
}

/** Writes the sources of a commit to a folder, with the dependencies of this checkout. */
export function checkOut(commit: string, folder: string): string {
  mkdirSync(folder, { recursive: true })
  const archive = git('archive', '--format=tar', commit, '--', 'package.json', ...packages)
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  linkModules(folder)
  return folder
}

/** Writes these sources to a folder, with one more migration, as the next version would have. */
export function nextVersion(folder: string, migration: string): string {
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', ...packages]) {
    cpSync(join(root, name), join(folder, name), {
      recursive: true,
      filter: (path) => !/\/(node_modules|screenshots)$/.test(path),
    })
  }
  const migrations = join(folder, 'server', 'migrations')
  const number = String(readdirSync(migrations).length + 1).padStart(4, '0')
  writeFileSync(join(migrations, `${number}_next_version.sql`), migration)
  linkModules(folder)
  return folder
}

function linkModules(folder: string): void {
  const from = join(root, 'node_modules')
  const to = join(folder, 'node_modules')
  mkdirSync(join(to, '@parley'), { recursive: true })
  for (const name of readdirSync(from)) if (name !== '@parley') symlinkSync(join(from, name), join(to, name))
  for (const name of packages) {
    symlinkSync(join(folder, name === 'sdk' ? 'sdk/src' : name), join(to, '@parley', name))
  }
}
