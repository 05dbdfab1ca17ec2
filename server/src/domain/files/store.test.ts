import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { expectRefusal } from '../../../testing/expect-error.ts'
import { type FileStoreServer, startFileStore } from '../../../testing/file-store.ts'
import { newFile } from '../../../testing/files.ts'
import { fileOf, useForms } from '../../../testing/forms.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { readConfig } from '../../config.ts'
import { subscribe, subscriberOf } from '../../db/topic.ts'
import { newUuid } from '../../lib/ids.ts'
import type { ObjectStore } from '../../net/object-store.ts'
import { deleteOldFiles } from './fetching.ts'
import { switchToObject } from './move.sql.ts'
import { moveFiles, newFileMover, readTotals } from './move.ts'
import { claimUnused, deleteSoon, noteObject } from './objects.sql.ts'
import { deleteUnusedObjects } from './objects.ts'
import { fileStore, openObjects, warnIfUnreadable } from './store.ts'

const server = useTestServer()
const forms = useForms(server)
let store: FileStoreServer
beforeAll(async () => {
  store = await startFileStore()
})
afterAll(async () => {
  objects().close()
  await store.remove()
})

const objects = () => subscriberOf(server.db, fileStore) as ObjectStore

/** Uses the store with these settings. */
async function use(env: Record<string, string> = {}): Promise<ObjectStore> {
  const { db, runtime } = server
  subscriberOf(db, fileStore)?.close()
  const { objectStore } = readConfig({ ...store.env, ...env })
  return (await openObjects(db, objectStore, runtime.log)) as ObjectStore
}
beforeEach(async () => {
  await use()
  // Each test sees only its own files and objects.
  await server.db.change('update flow_files set state = $1, why = $2, object_key = null', ['gone', 'retention'])
  await server.db.change('delete from file_chunks')
  await cleanUp()
  server.logged.length = 0
})

/** Moves new files to the store, as the background work does. */
const moveNew = () => newFileMover(server.db, server.runtime.log)(server.db)
const moveBack = () => moveFiles(server.db, objects(), 'database', () => {})
/** Deletes unused objects, without waiting until it is time. */
async function cleanUp() {
  await server.db.change('update unused_objects set delete_at = now()')
  await deleteUnusedObjects(server.db)
}
const chunkCount = async () => (await server.db.rows('select 1 from file_chunks')).length
const unused = () => server.db.rows('select object_key, is_deleting from unused_objects order by 1')
const logged = (event: string) =>
  server.logged.map((line) => JSON.parse(line) as Record<string, unknown>).filter((line) => line.event === event)

const request = (workspace: TestWorkspace, path: string, headers: Record<string, string> = {}) =>
  fetch(server.url + path, { headers: { authorization: `Bearer ${workspace.secret}`, ...headers } })
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())
const download = async (workspace: TestWorkspace, path: string) => bytesOf(await request(workspace, path))

const unavailable = {
  code: 'service_unavailable',
  message: 'The store of this file is unavailable. Try again later.',
  headers: { 'retry-after': '10' },
} as const

test('a 3 MB file is moved to the store and served from there, completely and in ranges', async () => {
  const workspace = await newWorkspace(server)
  const bytes = randomBytes(3 * 1024 * 1024)
  const path = await newFile(server, workspace, { bytes })
  const before = await request(workspace, path)
  expect((await bytesOf(before)).equals(bytes)).toBe(true)
  expect(store.objects()).toEqual([])
  await moveNew()
  expect(store.objects()).toEqual([expect.stringContaining(`files/${workspace.id}/`)])
  expect([await chunkCount(), await unused()]).toEqual([0, []])

  const after = await request(workspace, path)
  expect((await bytesOf(after)).equals(bytes)).toBe(true)
  const headersOf = ({ headers }: Response) =>
    ['content-type', 'content-length', 'content-disposition', 'etag'].map((name) => headers.get(name))
  expect(headersOf(after)).toEqual(headersOf(before))
  const size = bytes.length
  for (const [range, first, last] of [
    ['bytes=0-0', 0, 0],
    ['bytes=262143-262144', 262_143, 262_144],
    ['bytes=100-2000000', 100, 2_000_000],
    ['bytes=-5', size - 5, size - 1],
    [`bytes=${size - 1}-`, size - 1, size - 1],
  ] as const) {
    const response = await request(workspace, path, { range, 'if-range': before.headers.get('etag') ?? '' })
    expect([response.status, response.headers.get('content-range')]).toEqual([206, `bytes ${first}-${last}/${size}`])
    expect((await bytesOf(response)).equals(bytes.subarray(first, last + 1)), range).toBe(true)
  }
  expectRefusal(await workspace.call(path, { headers: { range: `bytes=${size}-` } }), { code: 'range_not_satisfiable' })
  const other = await newWorkspace(server)
  expectRefusal(await other.call(path), { code: 'not_found' })
  expect(await readTotals(server.db)).toMatchObject({ database: { files: 0, bytes: 0 }, s3: { files: 1, bytes: size } })
})

test('an empty file is moved there and back', async () => {
  const { shop, submission } = await uploadedForm(Buffer.alloc(0))
  await moveNew()
  expect(store.objects()).toHaveLength(1)
  expect(await download(shop.workspace, fileOf(submission.id))).toHaveLength(0)
  expect(await moveBack()).toMatchObject({ moved: 1, bytes: 0, damaged: [] })
  await cleanUp()
  expect(store.objects()).toEqual([])
  expect(await download(shop.workspace, fileOf(submission.id))).toHaveLength(0)
})

async function uploadedForm(bytes: Buffer) {
  const shop = await forms.newShop()
  const phone = String(16_505_580_000 + Math.trunc(Math.random() * 9999))
  await shop.sendForm(phone)
  const file = { base64: bytes.toString('base64'), filename: 'a.jpg', mimeType: 'image/jpeg' }
  const submission = await shop.fillForm(phone, { files: { photos: [file] } })
  await forms.fetcher.drain()
  return { shop, submission }
}

test.each([
  ['the store is down', 'ECONNREFUSED', {}],
  ['the credentials are wrong', '403 SignatureDoesNotMatch', { AWS_SECRET_ACCESS_KEY: 'not-the-secret' }],
  ['the bucket is missing', '404 NoSuchBucket', { PARLEY_FILES_URL: 's3://no-such-bucket?endpoint=' }],
] as const)(
  'if %s, its files get 503, and new ones are served from the database until it works',
  async (_name, reason, env) => {
    const workspace = await newWorkspace(server)
    const old = await newFile(server, workspace, { bytes: Buffer.from('old') })
    await moveNew()
    const isDown = reason === 'ECONNREFUSED'
    if (isDown) await store.stop()
    else await use('PARLEY_FILES_URL' in env ? { PARLEY_FILES_URL: env.PARLEY_FILES_URL + store.url } : env)
    try {
      expectRefusal(await workspace.call(old), unavailable)
      expectRefusal(await workspace.call(old, { headers: { range: 'bytes=1-1' } }), unavailable)
      expect((await workspace.call(old, { method: 'HEAD' })).status).toBe(200)
      const person = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
      const inConsole = await person.call(old.replace('/v1/flow_responses', `/w/${workspace.id}/forms`))
      expect(inConsole).toMatchObject({ status: 503, body: { error: { message: unavailable.message } } })
      const { shop, submission } = await uploadedForm(Buffer.from('new'))
      await moveNew()
      expect(String(await download(shop.workspace, fileOf(submission.id)))).toBe('new')
      const failures = logged('files.store_failed')
      expect(failures.length).toBeGreaterThan(0)
      for (const line of failures) expect(line).toMatchObject({ level: 50, error: expect.stringContaining(reason) })
      expect(logged('http.request_failed')).toEqual([])
      expect(server.logged.join()).not.toMatch(/not-the-secret|S3RVER/)
      if (isDown) await store.start()
      else await use()
      await moveNew()
      expect(logged('files.store_available')).toHaveLength(isDown ? 1 : 0)
      expect(String(await download(workspace, old))).toBe('old')
      expect(String(await download(shop.workspace, fileOf(submission.id)))).toBe('new')
      // What the failed uploads may have left is deleted.
      await cleanUp()
      expect([store.objects().length, await chunkCount(), await unused()]).toEqual([2, 0, []])
    } finally {
      if (isDown) await store.stop().then(() => store.start())
    }
  },
)

test('a process without PARLEY_FILES_URL serves files of the database, and says that it cannot serve the others', async () => {
  const workspace = await newWorkspace(server)
  const moved = await newFile(server, workspace, {})
  await warnIfUnreadable(server.db, server.runtime.log)
  await moveNew()
  const young = await newFile(server, workspace, {})
  subscribe(server.db, fileStore, objects())()
  await moveNew()
  await cleanUp()
  await warnIfUnreadable(server.db, server.runtime.log)
  expect(logged('files.store_not_set')).toHaveLength(1)
  expectRefusal(await workspace.call(moved), unavailable)
  expect(String(await download(workspace, young))).toBe('a file')
})

test('with PARLEY_NEW_FILES=database files stay in the database, and those in the store are readable', async () => {
  const workspace = await newWorkspace(server)
  const moved = await newFile(server, workspace, { bytes: Buffer.from('moved') })
  await moveNew()
  await use({ PARLEY_NEW_FILES: 'database' })
  const stays = await newFile(server, workspace, { bytes: Buffer.from('stays') })
  await moveNew()
  expect([store.objects().length, await chunkCount()]).toEqual([1, 1])
  expect([String(await download(workspace, moved)), String(await download(workspace, stays))]).toEqual([
    'moved',
    'stays',
  ])
})

test('after its retention period the object of a file is deleted too', async () => {
  const workspace = await newWorkspace(server)
  const old = await newFile(server, workspace, {})
  const asBefore = await newFile(server, workspace, {})
  await moveNew()
  await server.passDays(30)
  const young = await newFile(server, workspace, {})
  await moveNew()
  expect(store.objects()).toHaveLength(3)
  // The trigger notes the object, whatever statement deletes its file.
  const [id] = /[0-9a-f-]{36}/.exec(asBefore) ?? []
  await server.db.change(
    `update flow_files set state = 'gone', why = 'retention', content = null where response_id = $1`,
    [id],
  )
  server.clock.forward({ seconds: 1 })
  await deleteOldFiles(server.db, server.clock.now(), 30)
  expect(await unused()).toHaveLength(2)
  // A failover may lose the statement that deleted a file, so its object is kept for a while.
  await deleteUnusedObjects(server.db)
  expect(store.objects()).toHaveLength(3)
  await cleanUp()
  expect([store.objects().length, await unused()]).toEqual([1, []])
  for (const path of [old, asBefore]) expectRefusal(await workspace.call(path), { code: 'file_expired' })
  expect((await request(workspace, young)).status).toBe(200)
})

test('objects that cannot be deleted are kept in mind, and do not keep others from being deleted', async () => {
  const workspace = await newWorkspace(server)
  await newFile(server, workspace, {})
  await moveNew()
  await server.db.change(
    `update flow_files set state = 'gone', why = 'retention', object_key = null where state = 'fetched'`,
  )
  await store.stop()
  await expect(cleanUp()).rejects.toThrow('1 objects could not be deleted: connect ECONNREFUSED')
  expect(await unused()).toHaveLength(1)
  await store.start()
  // It is tried again an hour later.
  await deleteUnusedObjects(server.db)
  expect(store.objects()).toHaveLength(1)
  await cleanUp()
  expect([store.objects(), await unused()]).toEqual([[], []])
})

test('wherever a process dies, no object is left behind and no file refers to a missing one', async () => {
  const workspace = await newWorkspace(server)
  const key = () => `files/${workspace.id}/${newUuid()}/${newUuid()}`
  const write = (objectKey: string) => {
    const content = Buffer.from('orphan')
    const sha256 = createHash('sha256').update(content).digest('hex')
    return objects().put(objectKey, {
      size: content.length,
      sha256,
      open: async function* () {
        yield content
      },
    })
  }
  const [noted, written, claimed, deleted] = [key(), key(), key(), key()] as const
  // After an object was noted, and after it was written.
  for (const each of [noted, written, claimed, deleted]) await noteObject(server.db, each, workspace.id)
  for (const each of [written, claimed, deleted]) await write(each)
  // An upload may still be running, so nothing is deleted for a day.
  await deleteUnusedObjects(server.db)
  expect([store.objects().length, (await unused()).length]).toEqual([3, 4])
  // After objects were claimed to be deleted, and after one was deleted.
  for (const each of [claimed, deleted]) await deleteSoon(server.db, each)
  expect(await claimUnused(server.db, 10)).toHaveLength(2)
  await objects().delete(deleted)

  // An object that is being deleted cannot become the object of a file, even if the process that wrote it continues.
  const path = await newFile(server, workspace, {})
  const file = await server.db.first<Parameters<typeof switchToObject>[1]>(
    `select id, content from flow_files where state = 'fetched'`,
  )
  if (!file) throw new Error('no file')
  expect(await switchToObject(server.db, file, { objectKey: claimed, sha256: '' })).toBe(false)
  expect(String(await download(workspace, path))).toBe('a file')

  await cleanUp()
  expect([store.objects(), await unused()]).toEqual([[], []])
})

/** More than the buffers of two connections hold: from the store to the service, and to the client. */
const largeBytes = 14 * 1024 * 1024

/** Starts a download and stops reading after the first bytes. */
async function begin(workspace: TestWorkspace, path: string) {
  const headers = { authorization: `Bearer ${workspace.secret}` }
  const [response] = (await once(get(server.url + path, { headers }), 'response')) as [IncomingMessage]
  await once(response, 'readable')
  return {
    response,
    async rest() {
      const pieces: Buffer[] = []
      for await (const piece of response) pieces.push(piece as Buffer)
      return Buffer.concat(pieces)
    },
  }
}

test('a download continues while its file is moved there and back, and after the connection to the store broke', async () => {
  const workspace = await newWorkspace(server)
  const bytes = randomBytes(largeBytes)
  const path = await newFile(server, workspace, { bytes })
  const first = await begin(workspace, path)
  await moveNew()
  expect(await chunkCount()).toBe(0)
  expect((await first.rest()).equals(bytes)).toBe(true)

  const second = await begin(workspace, path)
  // Closes the connections to the store. The next request opens a new one.
  objects().close()
  expect((await second.rest()).equals(bytes)).toBe(true)

  // The service reads no faster than the client takes it.
  const aborted = await begin(workspace, path)
  await store.stop()
  let taken = 0
  await expect(async () => {
    for await (const piece of aborted.response) taken += piece.length
  }).rejects.toThrow(/aborted/)
  await store.start()
  expect(taken).toBeLessThan(largeBytes * 0.8)

  const last = await begin(workspace, path)
  expect(await moveBack()).toMatchObject({ moved: 1 })
  await cleanUp()
  expect(store.objects()).toEqual([])
  // Its connection to the store breaks, and the object is gone.
  await store.stop()
  expect((await last.rest()).equals(bytes)).toBe(true)
  await store.start()
})

test('slow downloads of one workspace leave connections to the store for others', async () => {
  const [busy, other] = [await newWorkspace(server), await newWorkspace(server)]
  const [theirs, ours] = [await newFile(server, busy, {}), await newFile(server, other, {})]
  await moveNew()
  const { downloads } = objects()
  while (downloads.take(busy.id));
  expect(downloads.takenBy(busy.id)).toBe(128)
  const message = 'Too many files are being downloaded. Try again shortly.'
  expectRefusal(await busy.call(theirs), { code: 'service_unavailable', message, headers: { 'retry-after': '1' } })
  expect(String(await download(other, ours))).toBe('a file')
  downloads.release(busy.id, 128)
  expect(String(await download(busy, theirs))).toBe('a file')
  expect(downloads.taken).toBe(0)
})

test('a damaged file is not moved, and does not keep others from being moved', async () => {
  const workspace = await newWorkspace(server)
  const path = await newFile(server, workspace, { bytes: randomBytes(600_000) })
  const damaged = await server.db.first<{ id: string }>(`select id from flow_files where state = 'fetched'`)
  await server.db.change('delete from file_chunks where file_id = $1 and number = 2', [damaged?.id])
  const other = await newFile(server, workspace, { bytes: Buffer.from('other') })
  const mover = newFileMover(server.db, server.runtime.log)
  await mover(server.db)
  await mover(server.db)
  expect(logged('files.damaged')).toMatchObject([{ file_id: damaged?.id, error: expect.stringContaining('chunk 2') }])
  expect(await chunkCount()).toBe(2)
  expect(String(await download(workspace, other))).toBe('other')

  const [key = ''] = store.objects()
  writeFileSync(store.pathOf(key), 'OTHER')
  const { moved, damaged: found } = await moveBack()
  expect([moved, found]).toMatchObject([0, [{ reason: 'the object does not match its hash' }]])
  expect(await chunkCount()).toBe(2)
  expect((await request(workspace, path, { range: 'bytes=0-9' })).status).toBe(206)
})

test('an object that someone deleted is an internal error, not an empty file', async () => {
  const workspace = await newWorkspace(server)
  const path = await newFile(server, workspace, {})
  await moveNew()
  await objects().delete(store.objects()[0] ?? '')
  expectRefusal(await workspace.call(path), { code: 'internal_error' })
  expect(JSON.stringify(logged('http.request_failed'))).toContain('the object of file')
})

test('two processes that move the same files leave one copy of each', async () => {
  const workspace = await newWorkspace(server)
  const contents = Array.from({ length: 6 }, () => randomBytes(300_000))
  const paths: string[] = []
  for (const bytes of contents) paths.push(await newFile(server, workspace, { bytes }))
  await Promise.all([moveNew(), moveNew(), moveNew()])
  await cleanUp()
  expect([store.objects().length, await chunkCount(), await unused()]).toEqual([6, 0, []])
  await Promise.all([moveBack(), moveBack(), moveBack()])
  await cleanUp()
  expect([store.objects(), await chunkCount(), await unused()]).toEqual([[], 12, []])
  for (const [at, path] of paths.entries()) {
    expect((await download(workspace, path)).equals(contents[at] ?? Buffer.alloc(0)), path).toBe(true)
  }
})
