import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Connection } from '../src/db/db.ts'

/** A proxy between a test and PostgreSQL that can make the database unreachable or unresponsive. */
export interface DatabaseProxy {
  connection: Connection
  /** Closes every connection and accepts no new one until `restore`. */
  cut(): void
  /** Drops everything PostgreSQL sends until `restore`. */
  hang(): void
  /** From now on, neither side of the current connections receives anything, and they stay open. New ones work. */
  silence(): void
  restore(): void
  close(): void
}

/** For one test. */
export async function startDatabaseProxy(connection: Connection): Promise<DatabaseProxy> {
  const proxy = await openDatabaseProxy(connection)
  onTestFinished(() => proxy.close())
  return proxy
}

export async function openDatabaseProxy(connection: Connection): Promise<DatabaseProxy> {
  let state: 'open' | 'cut' | 'hanging' = 'open'
  const sockets = new Set<Socket>()
  const silent = new WeakSet<Socket>()
  const closeAll = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const server = createServer((client) => {
    if (state === 'cut') return void client.destroy()
    const upstream = connect(join(String(connection.host), `.s.PGSQL.${connection.port}`))
    sockets.add(client).add(upstream)
    client.on('error', () => {}).on('close', () => upstream.destroy())
    upstream.on('error', () => {}).on('close', () => client.destroy())
    client.on('data', (chunk) => void (silent.has(client) || upstream.write(chunk)))
    upstream.on('data', (chunk) => void (state === 'open' && !silent.has(client) && client.write(chunk)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    connection: { ...connection, host: '127.0.0.1', port },
    cut() {
      state = 'cut'
      closeAll()
    },
    hang() {
      state = 'hanging'
    },
    silence() {
      for (const socket of sockets) silent.add(socket)
    },
    restore() {
      state = 'open'
    },
    close() {
      closeAll()
      server.close()
    },
  }
}
