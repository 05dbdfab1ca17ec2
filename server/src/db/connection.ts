import type pg from 'pg'
import { serverUrls } from '../lib/database-settings.ts'

/** How to connect to a database, as `pg` expects it. */
export interface Connection extends pg.ClientConfig {
  /** The other servers of a cluster. They are tried in order if this one is unreachable or read-only. */
  otherServers?: readonly pg.ClientConfig[]
}

export function toConnection(databaseUrl: string): Connection {
  const [first, ...others] = serverUrls(databaseUrl).map((url) => ({ connectionString: url }))
  return { ...first, otherServers: others }
}
