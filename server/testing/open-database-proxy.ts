import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Connection } from '../src/db/db.ts'
import { newCommitWatch } from './commit-watch.ts'

/** A proxy between a test and PostgreSQL that can make the database unreachable or unresponsive. */
export interface DatabaseProxy {
  connection: Connection
  /** Closes every connection and accepts no new one until `restore`. */
  cut(): void
  /**
   * Closes the connection of the next transaction with a statement that matches, after PostgreSQL has committed it and
   * before the client knows. Resolves then.
   */
  cutAfterCommit(statement: RegExp): Promise<void>
  /** Drops everything PostgreSQL sends until `restore`. */
  hang(): void
  /** From now on, neither side of the current connections receives anything, and they stay open. New ones work. */
  silence(): void
  restore(): void
  close(): void
}

export async function openDatabaseProxy(connection: Connection): Promise<DatabaseProxy> {
  let state: 'open' | 'cut' | 'hanging' = 'open'
  let cutting: { statement: RegExp; onCut: () => void } | null = null
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
    const watch = newCommitWatch(
      () => cutting?.statement ?? null,
      () => {
        client.destroy()
        cutting?.onCut()
        cutting = null
      },
    )
    client.on('data', (chunk: Buffer) => {
      if (silent.has(client)) return
      watch.sent(chunk)
      upstream.write(chunk)
    })
    upstream.on('data', (chunk: Buffer) => {
      if (watch.received(chunk) && state === 'open' && !silent.has(client)) client.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    connection: { ...connection, host: '127.0.0.1', port },
    cut() {
      state = 'cut'
      closeAll()
    },
    cutAfterCommit: (statement) =>
      new Promise((resolve) => {
        cutting = { statement, onCut: resolve }
      }),
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
