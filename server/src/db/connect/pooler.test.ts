import { scopes } from '@parley/contract/scopes'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { callApi } from '../../../testing/call.ts'
import { signedIn } from '../../../testing/console.ts'
import { asAdmin, newDatabase, newEmptyDatabase } from '../../../testing/database.ts'
import { startDatabaseProxy } from '../../../testing/database-proxy.ts'
import { watchLive } from '../../../testing/live.ts'
import { findPgbouncer, startPgbouncer } from '../../../testing/pgbouncer.ts'
import { startReceiver } from '../../../testing/receiver.ts'
import { secretKeys, urlOf } from '../../../testing/service.ts'
import { newProcessShop } from '../../../testing/shop-process.ts'
import type { TestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { createKey } from '../../domain/keys/keys.ts'
import { createWebhook } from '../../domain/webhooks/webhooks.ts'
import { createWorkspace } from '../../domain/workspaces/workspaces.ts'
import { systemClock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { type Connection, openDatabase } from '../db.ts'
import { readMigrations } from '../migrate/migrate.ts'
import { openStore } from '../store.ts'
import { requestLimits } from './limits.ts'

const pgbouncer = findPgbouncer()
const reason = 'missing' in pgbouncer ? pgbouncer.missing : ''

/** A database through a pooler with three server connections, each transaction on any of them. */
async function openPooled(max = 20) {
  const { connection, drop } = await newDatabase()
  onTestFinished(drop)
  const pooler = await startPgbouncer(pgbouncer as never, connection, 3)
  onTestFinished(() => pooler.stop())
  const db = openDatabase({ ...pooler.connection, direct: connection }, () => {}, max)
  onTestFinished(() => db.close())
  return { db, connection, pooler }
}

test.skipIf(reason)(
  `statements of many workspaces at once see their own workspace ${reason}`,
  async () => {
    const { db } = await openPooled()
    const text = `select current_setting('parley.workspace', true) as workspace, pg_backend_pid() as pid, $1::int as n`
    const pids = new Set<number>()
    const workspaces = Array.from({ length: 50 }, () => newUuid())
    const run = async (workspace: string, index: number) => {
      const seen = workspace === 'all' ? db : db.within(workspace)
      const expected = { workspace, n: index }
      const single = await seen.first<{ pid: number }>(text, [index])
      expect(single).toMatchObject(expected)
      pids.add(single?.pid ?? 0)
      await seen.transaction(async (tx) => {
        for (let count = 0; count < 3; count++) expect(await tx.first(text, [index])).toMatchObject(expected)
      })
    }
    const all = [...workspaces, 'all'].flatMap((each) => Array<string>(4).fill(each))
    await Promise.all(all.map(run))
    expect(pids.size).toBeGreaterThan(1)
    expect(pids.size).toBeLessThanOrEqual(3)
  },
  60_000,
)

test.skipIf(reason)(
  'limits hold in each transaction, and nothing stays on a server connection',
  async () => {
    const { db, connection, pooler } = await openPooled()
    await asAdmin(`alter database ${connection.database} set jit = on`)
    const read = `select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
    current_setting('idle_in_transaction_session_timeout') as idle, current_setting('plan_cache_mode') as plans,
    current_setting('jit') as jit`
    const request = { statement: '30s', lock: '0', idle: '5s', plans: 'auto', jit: 'off' }
    const background = { statement: '10min', lock: '30s', idle: '5s', plans: 'force_generic_plan', jit: 'off' }
    for (let count = 0; count < 5; count++) {
      expect(await db.within(newUuid()).first(read)).toEqual(request)
      expect(await db.first(read)).toEqual(background)
      expect(await db.transaction((tx) => tx.first(read))).toEqual(background)
    }
    // Another client of the pooler gets the same server connections.
    const plain = new pg.Client(pooler.connection)
    await plain.connect()
    onTestFinished(() => plain.end())
    for (let count = 0; count < 5; count++) {
      const { rows } = await plain.query(
        `${read}, coalesce(current_setting('parley.workspace', true), '') as workspace`,
      )
      expect(rows[0]).toMatchObject({ statement: '0', lock: '0', idle: '0', plans: 'auto', jit: 'on', workspace: '' })
    }
  },
  60_000,
)

test.skipIf(reason)(
  'a failed statement undoes its transaction, and its connection works again',
  async () => {
    const { db } = await openPooled(1)
    await db.script('create table items (id int primary key)')
    await expect(db.change('insert into items values ($1), ($1)', [1])).rejects.toThrow(/duplicate key/)
    expect(await db.change('insert into items values ($1), ($2)', [1, 2])).toBe(2)
    const head = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
    const row = Buffer.from([0, 1, 0, 0, 0, 4, 0, 0, 0, 3])
    await db.copy('items', ['id'], Buffer.concat([head, row, Buffer.from([255, 255])]))
    await expect(db.copy('items', ['id'], Buffer.concat([head, row, Buffer.from([255, 255])]))).rejects.toThrow(
      /duplicate/,
    )
    expect(await db.rows('select id from items order by id')).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }])
  },
  60_000,
)

test.skipIf(reason)(
  'a connection to the pooler that went silent is replaced, but not one with a slow statement',
  async () => {
    const { connection, pooler } = await openPooled()
    const proxy = await startDatabaseProxy(pooler.connection)
    const db = openDatabase({ ...proxy.connection, direct: connection }, () => {}, 2, requestLimits, 100)
    onTestFinished(() => db.close())
    expect(await db.rows('select pg_sleep(2)')).toHaveLength(1)
    proxy.silence()
    await expect(db.rows('select 1')).rejects.toThrow(/^Connection terminated: the database server does not respond/)
    expect(await db.first('select 2 as two')).toEqual({ two: 2 })
  },
  90_000,
)

test.skipIf(reason)(
  'a service on an empty database migrates it directly, and refuses another database',
  async () => {
    const [first, second] = [await newEmptyDatabase(), await newEmptyDatabase()]
    onTestFinished(async () => void (await Promise.all([first.drop(), second.drop()])))
    const pooler = await startPgbouncer(pgbouncer as never, first.connection, 3)
    onTestFinished(() => pooler.stop())
    const start = (direct: Connection) =>
      openStore(
        { databaseUrl: urlOf(pooler.connection), databaseDirectUrl: urlOf(direct), dataDir: '/nowhere' },
        { purpose: 'service', schema: 'migrate', log: newLogger('silent') },
      )
    const store = await start(first.connection)
    expect(store.applied).toEqual(readMigrations().map(({ name }) => name))
    await store.close()
    await expect(start(second.connection)).rejects.toThrow('lead to different databases')
  },
  90_000,
)

const receiverRules = { allowHttp: true, allowRanges: [], resolve: async () => [] }

test.skipIf(reason)(
  'two services behind a pooler with three connections send, deliver, and keep workspaces apart',
  async () => {
    const shop = await newProcessShop()
    const pooler = await startPgbouncer(pgbouncer as never, shop.connection, 3)
    onTestFinished(() => pooler.stop())
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const newHook = (workspaceId: string, name: string) =>
      createWebhook(shop.db, systemClock, secretKeys, receiverRules, {
        workspaceId,
        name,
        url: `http://localhost:${receiver.port}/hook`,
        events: ['message.sent'],
      })
    await newHook(shop.workspaceId, 'shop')
    const keys = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const { id: workspaceId } = await createWorkspace(shop.db, systemClock, `workspace ${index}`)
        await newHook(workspaceId, `hook ${index}`)
        const input = { workspaceId, name: 'k', scopes, rateLimitPerMin: 100, createdBy: 'test' }
        return (await createKey(shop.db, systemClock, input)).secret
      }),
    )
    const env = {
      DATABASE_URL: urlOf(pooler.connection),
      PARLEY_DATABASE_DIRECT_URL: urlOf(shop.connection),
      PARLEY_WEBHOOK_ALLOW_HTTP: 'true',
      PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      PARLEY_OPERATOR_TWO_FACTOR: 'optional',
    }
    const [one, two] = [await shop.start(env), await shop.start(env)]
    const person = await signedIn({ db: shop.db, clock: systemClock, url: two.url } as unknown as TestServer, {
      workspaceId: shop.workspaceId,
      role: 'admin',
    })
    const live = await watchLive(two.url, person, shop.workspaceId)
    const numbers = Array.from({ length: 15 }, (_, index) => `165055501${10 + index}`)
    const sent = Promise.all(numbers.map((number) => shop.sendText(one, number)))
    // A statement that ran with the workspace of another request would find no row.
    const lists = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const { status, body } = await callApi(`${(index % 2 ? one : two).url}/v1/webhook`, {
          key: keys[index % keys.length] as string,
        })
        return [status, (body as { data: { name: string }[] }).data?.map(({ name }) => name)]
      }),
    )
    expect(lists).toEqual(Array.from({ length: 60 }, (_, index) => [200, [`hook ${index % keys.length}`]]))
    expect((await sent).map(({ status }) => status)).toEqual(numbers.map(() => 202))
    const ids = () => new Set(receiver.received.map(({ id }) => id)).size
    await until('every message is sent and delivered', () => ids() >= numbers.length, 60_000)
    expect(ids()).toBe(numbers.length)
    await until('the console of the other service is notified', () => live.text.includes('messages'))
    live.close()
    await Promise.all([one.stop(), two.stop()])
    expect(one.output() + two.output()).not.toContain('"level":50')
  },
  180_000,
)
