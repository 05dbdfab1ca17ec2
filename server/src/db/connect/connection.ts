import type pg from 'pg'
import { serverUrls } from '../../lib/database-settings.ts'

/** How to connect to a database, as `pg` expects it. */
export interface Connection extends pg.ClientConfig {
  /** The other servers of a cluster. They are tried in order if this one is unreachable or read-only. */
  otherServers?: readonly pg.ClientConfig[]
  /**
   * PostgreSQL itself, if this is a pooler that may run each transaction on another connection. For what needs a session:
   * migrations, LISTEN, advisory locks, and asking about silent connections.
   */
  direct?: Connection
  /** A standby that is only read from. Unlike any other server, it is used although it is read-only. */
  isReplica?: boolean
}

export function toConnection(databaseUrl: string, directUrl: string | null = null): Connection {
  const [first, ...others] = serverUrls(databaseUrl).map((url) => ({ connectionString: url }))
  return { ...first, otherServers: others, ...(directUrl !== null && { direct: toConnection(directUrl) }) }
}
