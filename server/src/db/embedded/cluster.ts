import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createFolder } from '../../lib/create-folder.ts'
import { StartupError } from '../../lib/refuse.ts'
import { type Account, canReach } from './account.ts'
import type { Binaries } from './binaries.ts'
import { removeDrafts } from './drafts.ts'

/**
 * Creates the cluster in `<data dir>/postgres` unless it exists, and returns its real path. A cluster is created under
 * another name and renamed when it is complete, so an interrupted initdb never looks like a complete cluster. If two
 * processes create one at the same time, the slower one uses the cluster of the faster one.
 */
export async function ensureCluster(
  dataDir: string,
  account: Account,
  binaries: Binaries,
  password: string,
  say: (line: string) => void,
  signal: AbortSignal | undefined,
): Promise<string> {
  const defaultDir = join(dataDir, 'postgres')
  removeDrafts(dataDir)
  const clusterDir = resolveClusterDir(defaultDir, account)
  removeDrafts(dirname(clusterDir))
  if (existsSync(clusterDir) && !isComplete(clusterDir)) moveAside(clusterDir, say)
  if (!existsSync(clusterDir)) {
    say('Setting up the embedded PostgreSQL (first start only)…')
    await createCluster(clusterDir, account, binaries, password, signal)
  }
  const version = readFileSync(join(clusterDir, 'PG_VERSION'), 'utf8').trim()
  if (version !== binaries.major) {
    throw new StartupError(
      `The database in ${clusterDir} was created by PostgreSQL ${version}, but this version of Parley includes PostgreSQL ${binaries.major}. Dump the database with the Parley version that created it, or set DATABASE_URL to use your own PostgreSQL.`,
    )
  }
  return realpathSync(clusterDir)
}

/**
 * If PostgreSQL's account cannot reach the data directory, for example in root's home directory, the cluster is
 * stored in /var/lib/parley and `<data dir>/postgres` links to it.
 */
function resolveClusterDir(defaultDir: string, account: Account): string {
  if (isLink(defaultDir)) return resolve(dirname(defaultDir), readlinkSync(defaultDir))
  if (!account.switched || existsSync(defaultDir) || canReach(account, realpathSync(dirname(defaultDir))))
    return defaultDir
  try {
    symlinkSync(join('/var/lib/parley', randomUUID()), defaultDir)
  } catch (error) {
    // Another process created the link first; use that one.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return isLink(defaultDir) ? readlinkSync(defaultDir) : defaultDir
}

async function createCluster(
  clusterDir: string,
  account: Account,
  binaries: Binaries,
  password: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const draft = `${clusterDir}.draft-${process.pid}`
  const passwordFile = `${draft}.password`
  if (createFolder(dirname(clusterDir)) && account.switched) chmodSync(dirname(clusterDir), 0o711)
  try {
    mkdirSync(draft, { mode: 0o700 })
    writeFileSync(passwordFile, password, { mode: 0o600 })
    if (account.switched) {
      chownSync(draft, account.uid, account.gid)
      chownSync(passwordFile, account.uid, account.gid)
    }
    await runInitdb(binaries.initdb, draft, passwordFile, account, signal)
    renameSync(draft, clusterDir)
  } catch (error) {
    if (!existsSync(join(clusterDir, 'PG_VERSION'))) throw error
  } finally {
    rmSync(passwordFile, { force: true })
    rmSync(draft, { recursive: true, force: true })
  }
}

async function runInitdb(
  initdb: string,
  draft: string,
  passwordFile: string,
  account: Account,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted()
  const options = ['--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions']
  const child = spawn(initdb, [...options, `--pwfile=${passwordFile}`, `--pgdata=${draft}`], {
    cwd: draft,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { TZ: 'UTC', LC_ALL: 'C' },
    ...(account.switched ? { uid: account.uid, gid: account.gid } : {}),
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString()).slice(-4000)
  })
  const stop = () => child.kill()
  signal?.addEventListener('abort', stop)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  }).finally(() => signal?.removeEventListener('abort', stop))
  if (code === 0) return
  signal?.throwIfAborted()
  throw new Error(`initdb failed: ${stderr.trim()}`)
}

const isComplete = (clusterDir: string): boolean =>
  existsSync(join(clusterDir, 'PG_VERSION')) && existsSync(join(clusterDir, 'global', 'pg_control'))

function moveAside(clusterDir: string, say: (line: string) => void): void {
  if (readdirSync(clusterDir).length === 0) {
    rmSync(clusterDir, { recursive: true })
    return
  }
  const aside = `${clusterDir}.unfinished-${Date.now()}`
  renameSync(clusterDir, aside)
  say(`${clusterDir} is not a complete database. Moved it to ${aside}; creating a new database.`)
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false

/**
 * Creates the data directory and checks that it is writable. It is private to this account. If PostgreSQL runs as
 * another account, that account may pass through the directory to reach the cluster; every file in it has private
 * permissions.
 */
export function ensureDataDir(dataDir: string, allowTraversal: boolean): void {
  const mode = allowTraversal ? 0o711 : 0o700
  if (createFolder(dataDir, mode)) {
    chmodSync(dataDir, mode)
  } else if (allowTraversal) {
    const stats = statSync(dataDir)
    if (stats.uid === process.getuid?.() && (stats.mode & 0o001) === 0) chmodSync(dataDir, (stats.mode & 0o777) | 0o011)
  }
  const probe = join(dataDir, `.write-${process.pid}`)
  try {
    writeFileSync(probe, 'x')
  } finally {
    rmSync(probe, { force: true })
  }
}
