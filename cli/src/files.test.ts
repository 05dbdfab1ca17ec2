import { createHash, randomBytes } from 'node:crypto'
import { readConfig } from '@parley/server/config'
import { deleteUnusedObjects } from '@parley/server/domain/files/objects'
import { openObjects } from '@parley/server/domain/files/store'
import { systemClock } from '@parley/server/lib/clock'
import { startService } from '@parley/server/start'
import { newLogger } from '@parley/server/telemetry/logger'
import pg from 'pg'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startFileHost } from '../../server/testing/file-host.ts'
import { newFileService } from '../../server/testing/file-service.ts'
import { type FileStoreServer, startFileStore } from '../../server/testing/file-store.ts'
import { newFile, newReceivedFile } from '../../server/testing/files.ts'
import { spawnParley } from '../../server/testing/parley.ts'
import { secretKeys, urlOf } from '../../server/testing/service.ts'
import type { TestServer } from '../../server/testing/test-server.ts'
import { until } from '../../server/testing/until.ts'
import { runParley, startCommand } from '../testing/run-parley.ts'

let store: FileStoreServer
beforeAll(async () => {
  store = await startFileStore()
})
afterAll(() => store.remove())

/** A service that runs, stored files, and the settings for commands. */
async function setUp(sizes: readonly number[]) {
  const files = await newFileService(await startFileHost())
  const settings = { ...store.env, PARLEY_NEW_FILES: 'database' }
  const env = {
    ...settings,
    DATABASE_URL: urlOf(files.connection),
    PARLEY_SECRET_KEYS: [...secretKeys].map(([name, key]) => `${name}:${key.toString('base64')}`).join(),
    PORT: '0',
    LOG_LEVEL: 'silent',
  }
  const service = await startService({ config: readConfig(env) })
  onTestFinished(() => service.stop())
  // It uses nothing else of a test server.
  const server = { db: files.db, clock: systemClock, secretKeys, url: service.url } as unknown as TestServer
  const contents = new Map<string, string>()
  for (const size of sizes) {
    const bytes = randomBytes(size)
    contents.set(await newFile(server, { id: files.workspaceId }, { bytes }), hashOf(bytes))
  }
  const objects = await openObjects(files.db, readConfig(settings).objectStore, newLogger('silent'))
  onTestFinished(() => objects?.close())
  return {
    db: files.db,
    server,
    workspaceId: files.workspaceId,
    env,
    status: async () => JSON.parse((await runParley(['files', 'status', '--json'], env)).out) as unknown,
    /** Locks some files, so that a command that moves them waits. Returns how to release them once it has ended. */
    async hold(condition: string, count: number) {
      const client = new pg.Client(files.connection)
      await client.connect()
      onTestFinished(() => client.end())
      await client.query(`begin; set local parley.workspace = 'all'`)
      await client.query(`select 1 from flow_files where ${condition} limit ${count} for update`)
      return async () => {
        // PostgreSQL notices only later that the command is gone, and would still run its statements.
        await client.query(`select pg_terminate_backend(pid, 10000) from pg_stat_activity
          where pg_backend_pid() = any(pg_blocking_pids(pid))`)
        await client.query('rollback')
      }
    },
    /** Deletes what should be deleted within a day. */
    async cleanUp() {
      await files.db.change('update unused_objects set delete_at = now()')
      await deleteUnusedObjects(files.db)
    },
    async expectReadable() {
      const headers = { authorization: `Bearer ${files.secret}` }
      for (const [path, hash] of contents) {
        const response = await fetch(service.url + path, { headers })
        expect([response.status, hashOf(Buffer.from(await response.arrayBuffer()))], path).toEqual([200, hash])
      }
    },
  }
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('files are moved there and back while the service runs, even if the command is killed and run again', async () => {
  // Read five times, they stay below the key's 100 requests a minute.
  const sizes = [2 * 1024 * 1024, ...Array<number>(8).fill(300_000), 0, 1]
  const { db, env, status, cleanUp, expectReadable, hold } = await setUp(sizes)
  const all = { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size) }
  const none = { files: 0, bytes: 0 }
  const inObjects = async () => (await db.rows('select 1 from flow_files where object_key is not null')).length
  expect(await status()).toMatchObject({ database: all, s3: none })

  const releaseSome = await hold('object_key is null', 3)
  const there = spawnParley(['files', 'move', '--to', 's3'], env)
  await until('some files are moved', async () => (await inObjects()) >= 3)
  there.child.kill('SIGKILL')
  await there.ended
  await releaseSome()
  const killed = await inObjects()
  expect(killed).toBeLessThan(all.files)
  await expectReadable()
  const releaseOne = await hold('object_key is null', 1)
  const interrupted = startCommand(['files', 'move', '--to', 's3'], env)
  await until('more files are moved', async () => (await inObjects()) > killed)
  interrupted.kill('SIGINT')
  expect(await interrupted.ended).toMatchObject({ code: 130, out: '', err: expect.not.stringMatching(/\bat /) })
  await releaseOne()
  expect(await inObjects()).toBeLessThan(all.files)
  const moved = await runParley(['files', 'move', '--to', 's3'], env)
  expect([moved.code, moved.out]).toEqual([
    0,
    expect.stringMatching(/^Moved \d+ files \(\d+\.\d MB\) to the file store\.\n$/),
  ])
  expect(await status()).toMatchObject({ database: none, s3: all })
  expect(await db.rows('select 1 from file_chunks')).toEqual([])
  await expectReadable()
  await cleanUp()
  expect(store.objects()).toHaveLength(all.files)
  await expectReadable()
  expect((await runParley(['files', 'move', '--to', 's3'], env)).out).toMatch(/^Nothing to do/)

  const releaseLast = await hold('object_key is not null', 1)
  const back = spawnParley(['files', 'move', '--to', 'database'], env)
  await until('some files are moved back', async () => (await inObjects()) <= all.files - 3)
  back.child.kill('SIGKILL')
  await back.ended
  await releaseLast()
  expect(await inObjects()).toBeGreaterThan(0)
  await expectReadable()
  const json = JSON.parse((await runParley(['files', 'move', '--to', 'database', '--json'], env)).out) as {
    moved: number
  }
  expect(json).toMatchObject({ object: 'files_moved', to: 'database', damaged: [] })
  expect(await status()).toMatchObject({ database: all, s3: none })
  await cleanUp()
  expect(store.objects()).toEqual([])
  await expectReadable()
  // Nothing of the interrupted copies is left.
  const [row] = await db.rows(`select sum(length(c.bytes))::int as bytes, bool_and(c.lease = f.content) as used
    from file_chunks c join flow_files f on f.id = c.file_id`)
  expect(row).toEqual({ bytes: all.bytes, used: true })
  const audited = await db.rows(`select after->>'to' as to from audit_entries where action = 'files.move' order by at`)
  expect(audited).toEqual([{ to: 's3' }, { to: 'database' }])
})

test('files move says what is missing, and stops with one line if the store fails', async () => {
  const { env, expectReadable, db } = await setUp([1000, 2000])
  const move = (to: string, more: Record<string, string> = {}) =>
    runParley(['files', 'move', '--to', to], { ...env, ...more })
  expect(await move('tape')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^Invalid --to: "tape"\. Use s3 or database\.\n/),
  })
  expect(await move('s3', { PARLEY_FILES_URL: '', PARLEY_NEW_FILES: '' })).toMatchObject({
    code: 1,
    err: 'PARLEY_FILES_URL is not set. Set it to your file store, also to move files back from it.\n',
  })
  expect(await move('database', { PARLEY_NEW_FILES: 's3' })).toMatchObject({
    code: 1,
    err: expect.stringMatching(
      /^The service would move the files to the file store again\. Set PARLEY_NEW_FILES=database/,
    ),
  })
  const refused = await move('s3', { AWS_SECRET_ACCESS_KEY: 'not-the-secret' })
  expect(refused).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringMatching(
      /^The file store s3:\/\/parley-test\/files\/ at 127.* failed: 403 SignatureDoesNotMatch\. Run .*\n$/,
    ),
  })
  expect(refused.err).not.toContain('not-the-secret')
  await db.change('delete from file_chunks where file_id = (select id from flow_files order by size limit 1)')
  const damaged = await move('s3')
  expect(damaged.code).toBe(1)
  expect(damaged.out).toMatch(
    /^Moved 1 file \(2\.0 KB\) to the file store\.\n1 file stayed, .*\n {2}[0-9a-f-]{36}: chunk 0 of file/,
  )
  await expect(expectReadable()).rejects.toThrow()
})

test('person export reads files in the file store', async () => {
  const { env, server, workspaceId } = await setUp([])
  const bytes = randomBytes(300_000)
  await newReceivedFile(server, { id: workspaceId }, { bytes })
  expect((await runParley(['files', 'move', '--to', 's3'], env)).out).toMatch(/^Moved 1 file /)
  const exported = await runParley(['person', 'export', '--workspace', workspaceId, '--number', '16505550123'], env)
  expect([exported.code, exported.err]).toEqual([0, ''])
  expect(JSON.parse(exported.out).inbound_messages).toMatchObject([{ file: bytes.toString('base64') }])
})

test('doctor checks that the file store can be written and read', async () => {
  const { env } = await setUp([1000])
  const check = async (more: Record<string, string> = {}, ...words: string[]) => {
    const { out } = await runParley(['doctor', '--json', ...words], { ...env, ...more })
    expect(out).not.toMatch(/not-the-secret|S3RVER/)
    const { checks } = JSON.parse(out) as { checks: { check: string; verdict: string; message: string }[] }
    return checks.find((each) => each.check === 'files')
  }
  const name = `s3://parley-test/files/ at ${new URL(store.url).host}`
  expect(await check()).toMatchObject({ verdict: 'ok', message: `${name} can be written and read.` })
  expect(await check({ AWS_SECRET_ACCESS_KEY: 'not-the-secret' })).toMatchObject({
    verdict: 'problem',
    message: `The file store ${name} failed: 403 SignatureDoesNotMatch.`,
  })
  const without = { PARLEY_FILES_URL: '', PARLEY_NEW_FILES: '' }
  expect(await check(without)).toMatchObject({ verdict: 'ok', message: 'Files are in the database.' })
  expect((await runParley(['files', 'move', '--to', 's3'], env)).code).toBe(0)
  expect(await check(without)).toMatchObject({
    verdict: 'problem',
    message: expect.stringContaining('PARLEY_FILES_URL is not set'),
  })
  await store.stop()
  expect(await check()).toMatchObject({ verdict: 'problem', message: expect.stringContaining('ECONNREFUSED') })
  expect(await check({}, '--offline')).toMatchObject({ verdict: 'ok', message: `Files are in ${name}.` })
})
