import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Connection } from '../src/db/db.ts'
import { newFolder, removeFolder } from './data-dir.ts'

interface Program {
  path: string
  env: Record<string, string>
}

const cache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'pgbouncer')

/** Finds pgbouncer, or extracts Debian's package into a cache folder. Returns the reason if there is none. */
export function findPgbouncer(): Program | { missing: string } {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (folder && existsSync(join(folder, 'pgbouncer'))) return { path: join(folder, 'pgbouncer'), env: {} }
  }
  try {
    if (!existsSync(cache)) extractPackages()
  } catch (error) {
    return { missing: `pgbouncer is not installed, and its package cannot be downloaded: ${(error as Error).message}` }
  }
  const libraries = readdirSync(join(cache, 'usr/lib')).map((name) => join(cache, 'usr/lib', name))
  return { path: join(cache, 'usr/sbin/pgbouncer'), env: { LD_LIBRARY_PATH: libraries.join(':') } }
}

function extractPackages(): void {
  const folder = mkdtempSync(join(import.meta.dirname, '..', '..', 'node_modules', 'pgbouncer-'))
  try {
    const options = { cwd: folder, timeout: 30_000, stdio: 'ignore' } as const
    execFileSync('apt-get', ['download', 'pgbouncer', 'libc-ares2'], options)
    const packages = readdirSync(folder)
    for (const name of packages) execFileSync('dpkg', ['-x', name, 'root'], options)
    execFileSync('mkdir', ['-p', join(cache, '..')])
    chmodSync(join(folder, 'root'), 0o755)
    // Another test process may have been faster.
    if (!existsSync(cache)) renameSync(join(folder, 'root'), cache)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export interface Pgbouncer {
  /** Leads to the same database through the pooler. */
  connection: Connection
  stop(): Promise<void>
}

/** Only names the socket in its folder. */
const listenPort = 6432

/** Starts pgbouncer in front of a database on a Unix socket. Each transaction may run on another server connection. */
export async function startPgbouncer(
  { path, env }: Program,
  { host, port, user, password, database }: Connection,
  serverConnections: number,
): Promise<Pgbouncer> {
  const folder = newFolder()
  // PostgreSQL's socket is for its own account, and pgbouncer does not run as root either.
  const { uid, gid } = statSync(String(host))
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(folder, uid, gid)
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
${database} = host=${host} port=${port} dbname=${database} user=${user} password=${password}
[pgbouncer]
listen_port = ${listenPort}
unix_socket_dir = ${folder}
auth_type = any
pool_mode = transaction
default_pool_size = ${serverConnections}
max_client_conn = 500
`,
  )
  const child = spawn(path, [file], {
    env: { ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(isRoot && { uid, gid }),
  })
  const exited = once(child, 'exit')
  let log = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      log += text
      if (log.includes('process up')) resolve()
    })
    child.once('error', reject)
    void exited.then(() => reject(new Error(`pgbouncer exited: ${log}`)))
  })
  return {
    connection: { host: folder, port: listenPort, user, password, database } as Connection,
    async stop() {
      child.kill('SIGKILL')
      await exited
      removeFolder(folder)
    },
  }
}
