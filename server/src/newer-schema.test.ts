import { expect, test } from 'vitest'
import { runParley } from '../../cli/testing/run-parley.ts'
import { urlOf } from '../testing/service.ts'
import { newProcessShop } from '../testing/shop-process.ts'
import { until } from '../testing/until.ts'
import { programVersion } from './db/migrate/migrate.ts'

const latest = programVersion()

const env = { PARLEY_SECRET_KEYS: `test:${Buffer.alloc(32, 7).toString('base64')}`, PORT: '0' }

test('a process starts and works on a schema that is newer than its own', async () => {
  const { db, connection, start, sendText } = await newProcessShop()
  await db.change('insert into migrations (version, name, oldest) values ($1, $2, $3)', [latest + 1, 'newer', latest])
  const service = await start()
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
  expect((await sendText(service, '16505550101')).status).toBe(202)
  await until('the message is sent', async () => (await db.rows('select 1 from outbox')).length === 0)
  const database = { ...env, DATABASE_URL: urlOf(connection) }
  expect(await runParley(['workspace', 'list'], database)).toMatchObject({ code: 0, err: '' })
  expect(await runParley(['migrate'], database)).toMatchObject({
    code: 0,
    out: `The database is up to date, at version ${latest + 1}.\n`,
    err: '',
  })
  const { out } = await runParley(['doctor', '--offline'], database)
  expect(out).toContain(
    `The database is at version ${latest + 1}. This version of Parley, ${latest}, can use it: it needs ${latest} or later.`,
  )
})

test('a process whose schema moves beyond what it can use takes no work, and says why', async () => {
  const { db, connection, start, sendText, control } = await newProcessShop()
  const service = await start({ LOG_LEVEL: 'info' })
  const readiness = async () => {
    const response = await fetch(`${service.url}/readyz`)
    return { status: response.status, ...((await response.json()) as { reason?: string }) }
  }
  expect(await readiness()).toEqual({ status: 'ready' })
  const reason = `The database has schema version ${latest + 1}, which needs a Parley of version ${latest + 1} or later, but this is version ${latest}. Start the newer version, or restore a backup from before the upgrade.`
  const insert = 'insert into migrations (version, name, oldest) values ($1, $2, $1)'
  await db.change(insert, [latest + 1, 'newer'])
  await until('it is not ready', async () => (await readiness()).reason === reason)

  const { status, body, headers } = await sendText(service, '16505550101')
  expect(status).toBe(503)
  expect(headers.get('retry-after')).toBe('1')
  expect(body).toMatchObject({
    error: { code: 'service_unavailable', message: expect.stringContaining('older version') },
  })
  const posts = await fetch(`${service.url}/network/whatsapp/app`, { method: 'POST', body: '{}' })
  expect(posts.status).toBe(503)
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
  expect(service.output().match(/"event":"schema.unusable"/g)).toHaveLength(1)

  await expect(start()).rejects.toThrow(reason)
  const command = await runParley(['workspace', 'list'], { ...env, DATABASE_URL: urlOf(connection) })
  expect(command).toMatchObject({ code: 1, out: '', err: `${reason}\n` })

  await db.change('delete from migrations where version = $1', [latest + 1])
  await until('it is ready', async () => ((await readiness()).status as unknown) === 'ready')
  expect((await sendText(service, '16505550102')).status).toBe(202)
  await until('the message is sent', () => control.log.list({ limit: 1000 }).some((line) => line.kind === 'call'))
  await until('the outbox is empty', async () => (await db.rows('select 1 from outbox')).length === 0)
})
