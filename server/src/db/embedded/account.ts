import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartupError } from '../../lib/refuse.ts'

/** The account PostgreSQL runs as. `switched` is true if it is not the account of this process. */
export interface Account {
  name: string
  uid: number
  gid: number
  switched: boolean
}

/**
 * PostgreSQL refuses to run as root. If this process is root, PostgreSQL runs as the owner of the existing cluster, or
 * else as one of two unprivileged system accounts. Otherwise it runs as the account of this process.
 */
export function chooseAccount(clusterDir: string): Account {
  const uid = process.getuid?.() ?? -1
  if (uid !== 0) return { name: `uid ${uid}`, uid, gid: process.getgid?.() ?? -1, switched: false }
  const owner = statSync(clusterDir, { throwIfNoEntry: false })
  if (owner && owner.uid !== 0) return { name: `uid ${owner.uid}`, uid: owner.uid, gid: owner.gid, switched: true }
  const accounts = readAccounts()
  const chosen =
    accounts.find((account) => account.name === 'postgres') ?? accounts.find((account) => account.name === 'nobody')
  if (chosen) return { ...chosen, switched: true }
  throw new StartupError(
    'PostgreSQL cannot run as root, and this machine has no "postgres" or "nobody" account to run it as. Start Parley as a non-root user, or set DATABASE_URL to use your own PostgreSQL.',
  )
}

/** Whether the account can reach files in `path`: it needs execute permission on that directory and every parent. */
export function canReach(account: Account, path: string): boolean {
  if (!account.switched) return isReadable(path)
  for (let folder = path; ; folder = dirname(folder)) {
    const { mode, uid, gid } = statSync(folder)
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (dirname(folder) === folder) return true
  }
}

function readAccounts(): { name: string; uid: number; gid: number }[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length > 3)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
