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
import { StartupError } from '../../lib/refuse.ts'
import { type Account, canReach } from './account.ts'
import type { Binaries } from './binaries.ts'
import { removeDrafts } from './drafts.ts'

/**
 * Makes sure that a finished cluster stands at `<data dir>/postgres` and returns its real place. A cluster is made under
 * another name and renamed when it is whole, so one that was cut short is never mistaken for a finished one, and of two
 * processes that make one at the same time the later simply uses the earlier's.
 */
export async function ensureCluster(
  dataDir: string,
  account: Account,
  binaries: Binaries,
  password: string,
  say: (line: string) => void,
): Promise<string> {
  const place = join(dataDir, 'postgres')
  removeDrafts(dataDir)
  const home = homeFor(place, account)
  removeDrafts(dirname(home))
  if (existsSync(home) && !isWhole(home)) setAside(home, say)
  if (!existsSync(home)) {
    say('Preparing the embedded PostgreSQL (once)…')
    await makeCluster(home, account, binaries, password)
  }
  const made = readFileSync(join(home, 'PG_VERSION'), 'utf8').trim()
  if (made !== binaries.major) {
    throw new StartupError(
      `${home} was made by PostgreSQL ${made}; this version of Parley brings ${binaries.major}. Use the Parley that made it to dump it, or set DATABASE_URL.`,
    )
  }
  return realpathSync(home)
}

/** Where PostgreSQL's account cannot reach the data directory (a root home, say), the cluster lies outside, linked. */
function homeFor(place: string, account: Account): string {
  if (isLink(place)) return resolve(dirname(place), readlinkSync(place))
  if (!account.switched || existsSync(place) || canReach(account, realpathSync(dirname(place)))) return place
  try {
    symlinkSync(join('/var/lib/parley', randomUUID()), place)
  } catch (error) {
    // Another process came first; its choice stands.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return isLink(place) ? readlinkSync(place) : place
}

async function makeCluster(home: string, account: Account, binaries: Binaries, password: string): Promise<void> {
  const draft = `${home}.draft-${process.pid}`
  const passwordFile = `${draft}.password`
  if (mkdirSync(dirname(home), { recursive: true }) && account.switched) chmodSync(dirname(home), 0o711)
  try {
    mkdirSync(draft, { mode: 0o700 })
    writeFileSync(passwordFile, password, { mode: 0o600 })
    if (account.switched) {
      chownSync(draft, account.uid, account.gid)
      chownSync(passwordFile, account.uid, account.gid)
    }
    await runInitdb(binaries.initdb, draft, passwordFile, account)
    renameSync(draft, home)
  } catch (error) {
    if (!existsSync(join(home, 'PG_VERSION'))) throw error
  } finally {
    rmSync(passwordFile, { force: true })
    rmSync(draft, { recursive: true, force: true })
  }
}

function runInitdb(initdb: string, draft: string, passwordFile: string, account: Account): Promise<void> {
  const options = ['--username=postgres', '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--no-instructions']
  const child = spawn(initdb, [...options, `--pwfile=${passwordFile}`, `--pgdata=${draft}`], {
    cwd: draft,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { TZ: 'UTC', LC_ALL: 'C' },
    ...(account.switched ? { uid: account.uid, gid: account.gid } : {}),
  })
  let words = ''
  child.stderr.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-4000)
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`initdb failed: ${words.trim()}`))))
  })
}

const isWhole = (home: string): boolean =>
  existsSync(join(home, 'PG_VERSION')) && existsSync(join(home, 'global', 'pg_control'))

function setAside(home: string, say: (line: string) => void): void {
  if (readdirSync(home).length === 0) {
    rmSync(home, { recursive: true })
    return
  }
  const aside = `${home}.unfinished-${Date.now()}`
  renameSync(home, aside)
  say(`${home} was not a finished database; it was moved to ${aside} and a new one is made.`)
}

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false

/**
 * The data directory: private to us but, where PostgreSQL has an account of its own, passable to it, so that the cluster
 * can lie within. What is in it is private by itself.
 */
export function ensureDataDir(dataDir: string, passable: boolean): void {
  const mode = passable ? 0o711 : 0o700
  if (mkdirSync(dataDir, { recursive: true, mode })) {
    chmodSync(dataDir, mode)
  } else if (passable) {
    const about = statSync(dataDir)
    if (about.uid === process.getuid?.() && (about.mode & 0o001) === 0) chmodSync(dataDir, (about.mode & 0o777) | 0o011)
  }
  const probe = join(dataDir, `.write-${process.pid}`)
  try {
    writeFileSync(probe, 'x')
  } finally {
    rmSync(probe, { force: true })
  }
}
