import pg from 'pg'
import { inject } from 'vitest'
import type { Connection } from '../src/db/db.ts'
import { newUuid } from '../src/lib/ids.ts'
import { templateName } from './global-setup.ts'

/** A migrated database of one's own, and how to drop it. */
export async function newDatabase(): Promise<{ connection: Connection; drop(): Promise<void> }> {
  const name = `test_${newUuid().replaceAll('-', '')}`
  await asAdmin(`create database ${name} template ${templateName} owner parley`)
  return {
    connection: { ...inject('postgres'), user: 'parley', database: name },
    drop: () => asAdmin(`drop database if exists ${name} with (force)`),
  }
}

/** A database with nothing in it, whose owner is an ordinary role, and how to drop it. */
export async function newEmptyDatabase(): Promise<{ connection: Connection; drop(): Promise<void> }> {
  const name = `test_${newUuid().replaceAll('-', '')}`
  await asAdmin(`create database ${name} owner parley`)
  return {
    connection: { ...inject('postgres'), user: 'parley', database: name },
    drop: () => asAdmin(`drop database if exists ${name} with (force)`),
  }
}

/** A connection as a URL, for processes that are started. */
export function urlOf({ host, port, user, password, database }: Connection): string {
  return `postgresql://${user}:${password}@localhost:${port}/${database}?host=${encodeURIComponent(String(host))}`
}

export async function asAdmin(statement: string): Promise<void> {
  const admin = new pg.Client({ ...inject('postgres'), user: 'postgres', database: 'postgres' })
  await admin.connect()
  try {
    await admin.query(statement)
  } finally {
    await admin.end()
  }
}
