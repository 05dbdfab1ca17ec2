import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../testing/database.ts'
import { newUuid } from '../lib/ids.ts'
import { type Connection, openDatabase } from './db.ts'

async function opened(timeoutMs: number, through: (connection: Connection) => Connection = (same) => same) {
  const { connection, drop } = await newDatabase()
  const db = openDatabase(through(connection), () => {}, 2, timeoutMs)
  onTestFinished(async () => {
    await db.close()
    await drop()
  })
  return db
}

test('what a request asks of the database ends after a while, and the next request is served', async () => {
  const db = await opened(150)
  const seen = db.within(newUuid())
  await expect(seen.rows('select pg_sleep(20)')).rejects.toMatchObject({ code: '57014' })
  expect(await seen.rows('select 1 as one')).toEqual([{ one: 1 }])
})

test('what a loop asks may take its time', async () => {
  const db = await opened(100)
  expect(await db.rows('select pg_sleep(0.4) is null as slept')).toHaveLength(1)
})

test('a database that hangs does not make a request hang', async () => {
  // Between us and PostgreSQL: from the moment it hangs, nothing that PostgreSQL says gets through.
  let hangs = false
  const sockets: Socket[] = []
  let target = ''
  const between = createServer((near) => {
    const far = connect(target)
    sockets.push(near, far)
    near.on('error', () => far.destroy()).pipe(far)
    far.on('error', () => near.destroy()).on('data', (chunk) => void (hangs || near.write(chunk)))
  })
  await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    between.close()
  })
  const { port } = between.address() as { port: number }
  const db = await opened(250, (connection) => {
    target = join(String(connection.host), `.s.PGSQL.${connection.port}`)
    return { ...connection, host: '127.0.0.1', port }
  })
  const seen = db.within(newUuid())
  expect(await seen.rows('select 1 as one')).toEqual([{ one: 1 }])
  hangs = true
  await expect(seen.rows('select 2 as two')).rejects.toThrow('Query read timeout')
  hangs = false
  expect(await seen.rows('select 3 as three')).toEqual([{ three: 3 }])
})
