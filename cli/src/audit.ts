import { hostname, userInfo } from 'node:os'
import type { Db } from '@parley/server/db/db'
import { type Actor, type NewAuditEntry, recordAuditEntry } from '@parley/server/domain/audit/audit'
import { version } from '@parley/server/lib/version'
import type { Call } from './command.ts'

/** The person who runs a command, in the audit log: the user of the operating system, and the machine. */
export const commandLine: Actor = {
  personId: null,
  name: `command line (${userName()})`,
  address: null,
  userAgent: `parley/${version} (${hostname()})`,
}

/** Runs a change and writes its audit entry, in one transaction. */
export async function change<T>(
  { db, clock }: Call,
  work: (tx: Db, audit: (entry: NewAuditEntry) => Promise<void>) => Promise<T>,
): Promise<T> {
  return (await db()).transaction((tx) => work(tx, (entry) => recordAuditEntry(tx, clock, commandLine, entry)))
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a number without a name.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
