/**
 * The connections that a process opens at most. The default lets four processes run on a PostgreSQL with
 * `max_connections = 60`, of which it reserves three, and leaves some for commands.
 */
export const poolSize = { default: 13, min: 7, max: 500 }

/**
 * A read from the replica never lacks what was committed this long before it. So after this time, what a person has changed
 * can be read from it in every process.
 */
export const maxBehindMs = 5_000

/** Splits a DATABASE_URL with several servers (`host1:5432,host2:5432`), as libpq takes it, into one URL for each. */
export function serverUrls(databaseUrl: string): string[] {
  const [, start = '', servers = '', end = ''] = /^(\w+:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/s.exec(databaseUrl) ?? []
  return servers.includes(',') ? servers.split(',').map((server) => start + server + end) : [databaseUrl]
}
