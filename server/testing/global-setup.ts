import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { openEmbedded } from '../src/db/embedded/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { newFolder, removeFolder } from './data-dir.ts'

export interface TestServer {
  host: string
  port: number
  password: string
}

declare module 'vitest' {
  interface ProvidedContext {
    postgres: TestServer
  }
}

export const templateName = 'parley_template'

/** One PostgreSQL for the whole run, with one migrated database that every test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = newFolder()
  // Nothing here has to survive a power cut.
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' }
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor', settings })
  const admin = new pg.Client(embedded.admin)
  await admin.connect()
  await admin.query(`create database ${templateName} owner parley`)
  await admin.end()
  await migrate({ ...embedded.connection, database: templateName })
  const { host, port, password } = embedded.connection
  project.provide('postgres', { host, port, password })
  return async () => {
    await embedded.close()
    removeFolder(dataDir)
  }
}
