import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../../testing/database.ts'
import { newUuid } from '../../lib/ids.ts'
import { type Connection, openDatabase } from '../db.ts'

async function openWithTimeout(timeoutMs: number, through: (connection: Connection) => Connection = (same) => same) {
  const { connection, drop } = await newDatabase()
  const db = openDatabase(through(connection), () => {}, 2, { statementMs: timeoutMs, lockMs: 0 })
  onTestFinished(async () => {
    await db.close()
    await drop()
  })
  return db
}

test('a statement within a workspace is cancelled at the timeout, and the next one succeeds', async () => {
  const db = await openWithTimeout(150)
  const workspace = db.within(newUuid())
  await expect(workspace.rows('select pg_sleep(20)')).rejects.toMatchObject({ code: '57014' })
  expect(await workspace.rows('select 1 as one')).toEqual([{ one: 1 }])
})

test('a statement outside a workspace has a longer timeout', async () => {
  const db = await openWithTimeout(100)
  expect(await db.rows('select pg_sleep(0.4) is null as slept')).toHaveLength(1)
})

test('a statement within a workspace fails if the database hangs', async () => {
  // A proxy in front of PostgreSQL. While it hangs, it drops everything that PostgreSQL sends.
  let hangs = false
  const sockets: Socket[] = []
  let target = ''
  const proxy = createServer((near) => {
    const far = connect(target)
    sockets.push(near, far)
    near.on('error', () => far.destroy()).pipe(far)
    far.on('error', () => near.destroy()).on('data', (chunk) => void (hangs || near.write(chunk)))
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const { port } = proxy.address() as { port: number }
  const db = await openWithTimeout(250, (connection) => {
    target = join(String(connection.host), `.s.PGSQL.${connection.port}`)
    return { ...connection, host: '127.0.0.1', port }
  })
  const workspace = db.within(newUuid())
  expect(await workspace.rows('select 1 as one')).toEqual([{ one: 1 }])
  hangs = true
  await expect(workspace.rows('select 2 as two')).rejects.toThrow(
    'Connection terminated: the database server does not respond',
  )
  hangs = false
  expect(await workspace.rows('select 3 as three')).toEqual([{ three: 3 }])
})
