import pg from 'pg'
import { inject } from 'vitest'
import type { Connection } from '../src/db/db.ts'
import { newUuid } from '../src/lib/ids.ts'
import { templates } from './global-setup.ts'

/** A separate database for a test. Its owner is an ordinary role. */
export interface TestDatabase {
  connection: Connection
  drop(): Promise<void>
}

/** A migrated database, or a copy of a database without connections. */
export const newDatabase = (template: string = templates.migrated): Promise<TestDatabase> =>
  create(`template ${template}`)

/** A migrated database with the partitions of the fake clock's first days. */
export const newDatabaseWithDays = (): Promise<TestDatabase> => newDatabase(templates.withDays)

/** A migrated database for a service with the real time. Creating the partitions takes a third of a second, at every first start. */
export const newServiceDatabase = (): Promise<TestDatabase> => newDatabase(templates.forService)

/** An empty database. */
export const newEmptyDatabase = (): Promise<TestDatabase> => create('')

async function create(from: string): Promise<TestDatabase> {
  const name = `test_${newUuid().replaceAll('-', '')}`
  // Copying the files is faster than writing them through the WAL. It needs a checkpoint, which is cheap without fsync.
  await asAdmin(`create database ${name} ${from} strategy file_copy owner parley`)
  return {
    connection: { ...inject('postgres'), user: 'parley', database: name },
    drop: () => asAdmin(`drop database if exists ${name} with (force)`),
  }
}

let admin: Promise<pg.Client> | undefined

/** Runs a statement as PostgreSQL's superuser, on one connection for all tests of this worker. */
export async function asAdmin(statement: string): Promise<void> {
  admin ??= connectAdmin()
  await (await admin).query(statement)
}

async function connectAdmin(): Promise<pg.Client> {
  const client = new pg.Client({ ...inject('postgres'), user: 'postgres', database: 'postgres' })
  client.on('error', () => {})
  client.on('end', () => {
    admin = undefined
  })
  return client.connect()
}
