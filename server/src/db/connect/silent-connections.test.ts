import { expect, onTestFinished, test } from 'vitest'
import { newDatabase } from '../../../testing/database.ts'
import { startDatabaseProxy } from '../../../testing/database-proxy.ts'
import { until } from '../../../testing/until.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { openDatabase } from '../db.ts'
import { listenForChanges } from '../listen-for-changes.ts'
import type { ChangeNotice } from '../notices/change-notices.ts'
import { requestLimits } from './limits.ts'
import type { ServerClient } from './server-client.ts'
import type { Session } from './session.ts'
import { type IsIdle, SilenceWatch } from './silence-watch.ts'

/** A tenth of the time of a service. */
const lookMs = 100

async function openBehindProxy() {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const proxy = await startDatabaseProxy(connection)
  const lost: Error[] = []
  const db = openDatabase(proxy.connection, (error) => lost.push(error), 2, requestLimits, lookMs)
  onTestFinished(() => db.close())
  return { proxy, db, lost }
}

test('a statement on a connection that went silent fails, and all connections of that time are replaced', async () => {
  const { proxy, db, lost } = await openBehindProxy()
  const workspace = db.within('00000000-0000-4000-8000-000000000001')
  await Promise.all([db.rows('select 1'), db.rows('select 1'), workspace.rows('select 1'), workspace.rows('select 1')])
  proxy.silence()
  await expect(db.rows('select 1')).rejects.toThrow(/^Connection terminated: the database server does not respond/)
  // None of these meets a silent connection, so there is nothing more to find.
  for (let count = 1; count <= 4; count++) {
    expect(await db.first('select 2 as two')).toEqual({ two: 2 })
    expect(await workspace.first('select 3 as three')).toEqual({ three: 3 })
  }
  expect(lost).toHaveLength(1)
})

test('a transaction and a COPY on a connection that went silent fail', async () => {
  const { proxy, db } = await openBehindProxy()
  await db.script('create table items (id int)')
  const transaction = db.transaction(async (tx) => {
    await tx.rows('select 1')
    proxy.silence()
    await tx.rows('select 2')
  })
  await expect(transaction).rejects.toThrow(/^Connection terminated/)
  await db.rows('select 1')
  proxy.silence()
  const head = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\xff\xff', 'latin1')
  await expect(db.copy('items', ['id'], head)).rejects.toThrow(/^Connection terminated/)
  await db.copy('items', ['id'], head)
})

test('a slow statement is not taken for a silent connection', async () => {
  const { db, lost } = await openBehindProxy()
  expect(await db.rows('select pg_sleep(3)')).toHaveLength(1)
  expect(lost).toEqual([])
})

test('connections that become quiet while no server can be asked are closed with the first one', async () => {
  const response = Promise.withResolvers<IsIdle>()
  let asked = 0
  const watch = new SilenceWatch(
    () => {
      asked++
      return response.promise
    },
    () => {},
    10,
  )
  onTestFinished(() => watch.close())
  const destroyed: number[] = []
  const start = (pid: number) => {
    const silence = { looks: 0, bytesRead: -1, maxLooks: 0 }
    const client = { pid, bytesRead: 0, silence, destroy: () => destroyed.push(pid) }
    watch.start(client as unknown as ServerClient, 60_000)
    return client
  }
  start(1)
  await until('the first one is asked about', () => asked === 1)
  const second = start(2)
  await until('the second one is quiet too', () => second.silence.looks > 10)
  start(3)
  response.resolve(() => true)
  await until('both are closed', () => destroyed.length > 0)
  expect(destroyed).toEqual([1, 2])
  expect(asked).toBe(1)
})

test.each([
  ['only listens', null],
  ['listens and announces itself', { channels: {}, announce: (session: Session) => session.rows('select 1') }],
])(
  'a connection that %s is replaced when it goes silent',
  async (_, more) => {
    const { proxy, db } = await openBehindProxy()
    const heard: string[] = []
    let missed = 0
    const onChange = (notice: ChangeNotice | null) => (notice ? heard.push(notice.topic) : missed++)
    const listener = listenForChanges(db, newLogger('silent'), [onChange], more)
    onTestFinished(() => listener.stop())
    await listener.ready
    proxy.silence()
    await until('it listens again', () => missed > 0, 50_000)
    db.notify('00000000-0000-4000-8000-000000000001', 'messages')
    await until('the notice arrives', () => heard.includes('messages'))
  },
  90_000,
)
