import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Connection } from '../src/db/db.ts'

/** Stands between a test and PostgreSQL, to make the database unreachable or silent. */
export interface DatabaseProxy {
  connection: Connection
  /** Closes every connection and accepts no new one until `restore`. */
  cut(): void
  /** Swallows all that PostgreSQL sends until `restore`; what was swallowed is lost. */
  hang(): void
  restore(): void
}

export async function startDatabaseProxy(connection: Connection): Promise<DatabaseProxy> {
  let state: 'open' | 'cut' | 'hanging' = 'open'
  const sockets = new Set<Socket>()
  const closeAll = () => {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  const server = createServer((near) => {
    if (state === 'cut') return void near.destroy()
    const far = connect(join(String(connection.host), `.s.PGSQL.${connection.port}`))
    sockets.add(near).add(far)
    near.on('error', () => {}).on('close', () => far.destroy())
    far.on('error', () => {}).on('close', () => near.destroy())
    near.pipe(far)
    far.on('data', (chunk) => void (state === 'open' && near.write(chunk)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    closeAll()
    server.close()
  })
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
    restore() {
      state = 'open'
    },
  }
}
