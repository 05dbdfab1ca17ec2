import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { type Embedded, openEmbedded } from '../src/db/embedded/embedded.ts'
import { copyDataDir, newFolder, removeFolder } from './data-dir.ts'

/** A primary server and a standby that follows it. */
export interface Cluster {
  primary: Embedded
  standby: Embedded
  close(): Promise<void>
}

const settings = { fsync: 'off', full_page_writes: 'off', shared_buffers: '32MB' }

/** A server for failover tests. */
export const openServer = (dataDir: string, more: Record<string, string> = {}): Promise<Embedded> =>
  openEmbedded({ dataDir, purpose: 'visitor', settings: { ...settings, ...more } })

/** `first` is the primary's data directory, in which a server ran before. */
export async function openCluster(first: string): Promise<Cluster> {
  const folder = newFolder()
  const second = copyDataDir(first, join(folder, 'second'))
  writeFileSync(join(second, 'postgres', 'standby.signal'), '')
  const primary = await openServer(first)
  const { host, port, user, password } = primary.admin
  const follow = `host='${host}' port=${port} user=${user} password=${password}`
  const standby = await openServer(second, { primary_conninfo: follow })
  return {
    primary,
    standby,
    async close() {
      await standby.close()
      await primary.close()
      removeFolder(folder)
      removeFolder(first)
    },
  }
}

/** Runs statements as PostgreSQL's superuser. */
export async function asSuperuser({ admin }: Embedded, ...statements: string[]): Promise<void> {
  const client = new pg.Client(admin)
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}

export const makeReadOnly = (server: Embedded): Promise<void> =>
  asSuperuser(server, 'alter system set default_transaction_read_only = on', 'select pg_reload_conf()')
