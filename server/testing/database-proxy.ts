import { onTestFinished } from 'vitest'
import type { Connection } from '../src/db/db.ts'
import { type DatabaseProxy, openDatabaseProxy } from './open-database-proxy.ts'

export type { DatabaseProxy }

/** A proxy that is closed at the end of the test. */
export async function startDatabaseProxy(connection: Connection): Promise<DatabaseProxy> {
  const proxy = await openDatabaseProxy(connection)
  onTestFinished(() => proxy.close())
  return proxy
}
