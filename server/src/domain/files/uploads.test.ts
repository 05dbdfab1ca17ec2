import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { expectCommonHeaders, expectRefusal } from '../../../testing/expect-error.ts'
import { newReceivedFile } from '../../../testing/files.ts'
import { rawConnection } from '../../../testing/raw.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { frame, postForm, startUpload, upload } from '../../../testing/uploads.ts'
import { newWorkspace, type TestWorkspace } from '../../../testing/workspace.ts'
import { defaultClientTimeouts } from '../../http/limits/limits.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { newFetcher } from './fetcher.ts'
import { deleteOldFiles } from './fetching.ts'

const server = useTestServer()

/** One upload of a workspace at a time, and 1 MB stored. */
const strict = useTestServer({
  env: { PARLEY_MEDIA_MB_PER_WORKSPACE: '1' },
  limits: { uploads: { total: 2 } },
})

const impatient = useTestServer({
  limits: { timeouts: { ...defaultClientTimeouts, headersMs: 500, requestMs: 500, checkMs: 50, uploadIdleMs: 1_500 } },
})

async function newUploader(on = server) {
  const workspace = await newWorkspace(on)
  return { ...workspace, url: on.url }
}

const chunksOf = async (workspace: Pick<TestWorkspace, 'id'>, on = server) =>
  (await on.db.rows('select 1 from file_chunks where workspace_id = $1', [workspace.id])).length

const statesOf = async (workspace: Pick<TestWorkspace, 'id'>, on = server) =>
  (
    await on.db.rows<{ state: string }>('select state from flow_files where workspace_id = $1 order by created_at', [
      workspace.id,
    ])
  ).map(({ state }) => state)

test('POST /v1/media stores a file for 30 days and returns its type, size and hash', async () => {
  const uploader = await newUploader()
  const bytes = randomBytes(700_001)
  const { status, headers, body } = await upload(uploader, bytes, { mimeType: 'Video/MP4; codecs=h264' })
  expect(status).toBe(201)
  expectCommonHeaders({ headers })
  const now = server.clock.now()
  expect(body).toEqual({
    id: expect.stringMatching(/^med_[0-9a-f-]{36}$/),
    object: 'media',
    mime_type: 'video/mp4',
    size: 700_001,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + 30 * 86_400_000).toISOString(),
  })
  const stored = await server.db.rows<{ bytes: Buffer }>(
    'select bytes from file_chunks where workspace_id = $1 order by number',
    [uploader.id],
  )
  expect(Buffer.concat(stored.map((row) => row.bytes)).equals(bytes)).toBe(true)
})

test('a body that is not multipart/form-data is 415, and a key without messages:send is 403', async () => {
  const uploader = await newUploader()
  const post = (headers: Record<string, string>, body = '{}') =>
    uploader.call('/v1/media', { method: 'POST', headers, body })
  const message = 'The request body must be multipart/form-data and not compressed.'
  expectRefusal(await post({}), { code: 'unsupported_media_type', message })
  expectRefusal(await post({ 'content-type': 'image/png' }), { code: 'unsupported_media_type', message })
  const compressed = { 'content-type': frame.contentType, 'content-encoding': 'gzip' }
  expectRefusal(await post(compressed), { code: 'unsupported_media_type', message })
  const { secret } = await uploader.newKey({ scopes: ['messages:read', 'inbound:read'] })
  expect((await upload({ url: server.url, secret }, Buffer.from('x'))).status).toBe(403)
  expect((await upload({ url: server.url, secret: 'wrong' }, Buffer.from('x'))).status).toBe(401)
})

test('a body without a file, with two, with another part, with an empty file or cut off is 400, and nothing is stored', async () => {
  const uploader = await newUploader()
  const fileOf = (text: string) => new Blob([text], { type: 'image/png' })
  const formOf = (...parts: [string, Blob | string][]) => {
    const form = new FormData()
    for (const [name, part] of parts) form.append(name, part)
    return form
  }
  const wrong: [FormData, param: string, code: string][] = [
    [formOf(), 'file', 'missing'],
    [formOf(['file', fileOf('one')], ['file', fileOf('two')]), 'file', 'too_many'],
    [formOf(['file', fileOf('one')], ['caption', 'hello']), 'caption', 'unknown'],
    [formOf(['picture', fileOf('one')]), 'picture', 'unknown'],
    [formOf(['file', fileOf('')]), 'file', 'too_short'],
  ]
  for (const [form, param, code] of wrong) {
    const { status, body } = await postForm(uploader, form)
    expect([status, (body as unknown as { error: object }).error], param).toEqual([
      400,
      expect.objectContaining({ code: 'validation_failed', param, errors: [expect.objectContaining({ param, code })] }),
    ])
  }
  const malformed = [`${frame.before}no end`, 'no part at all', '']
  for (const body of malformed) {
    const response = await uploader.call('/v1/media', {
      method: 'POST',
      headers: { 'content-type': frame.contentType },
      body: body || '\r\n',
    })
    expect(response.status, body).toBe(400)
  }
  const withoutBoundary = await uploader.call('/v1/media', {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data' },
    body: 'x',
  })
  expect(withoutBoundary.status).toBe(400)
  expect(await chunksOf(uploader)).toBe(0)
  expect(await statesOf(uploader)).toEqual([])
})

test('a body that is too large is 413 before it is read', async () => {
  const uploader = await newUploader()
  const sending = startUpload(uploader, 100_200_000)
  await sending.write(randomBytes(1_000_000))
  const message = 'A file can be at most 100 MB (100,000,000 bytes).'
  expectRefusal(await sending.response, { code: 'payload_too_large', message })
  sending.destroy()
  expect(await chunksOf(uploader)).toBe(0)
})

test('a client that disconnects leaves nothing behind, not even the name of the file', async () => {
  const uploader = await newUploader()
  const sending = startUpload(uploader, 1_000_000)
  await sending.write(randomBytes(600_000))
  await until('the first chunks are stored', async () => (await chunksOf(uploader)) > 0)
  sending.destroy()
  await until('the upload is given up', async () => (await statesOf(uploader)).length === 0)
  expect(await chunksOf(uploader)).toBe(0)
})

test('an upload of a process that died is deleted with its bytes; if it continues, it is 503', async () => {
  const uploader = await newUploader()
  const sending = startUpload(uploader, 1_000_000)
  await sending.write(randomBytes(600_000))
  await until('the first chunks are stored', async () => (await chunksOf(uploader)) > 0)
  // As if its lease had ended.
  await server.db.change('update flow_files set due_at = $2 where workspace_id = $1', [uploader.id, server.clock.now()])
  await newFetcher(server.runtime.network, newLogger('silent')).drain()
  expect([await statesOf(uploader), await chunksOf(uploader)]).toEqual([[], 0])
  await sending.write(randomBytes(400_000))
  sending.end()
  expect((await sending.response).status).toBe(503)
  expect(await chunksOf(uploader)).toBe(0)
})

test('an upload may take longer than other requests, but not pause for long', async () => {
  const uploader = await newUploader(impatient)
  const slow = startUpload(uploader, 500_000)
  for (let n = 0; n < 5; n++) {
    await slow.write(Buffer.alloc(100_000, n))
    // In total well above the limit for whole requests.
    await sleep(150)
  }
  slow.end()
  expect((await slow.response).status).toBe(201)
  const stalled = startUpload(uploader, 500_000)
  await stalled.write(Buffer.alloc(1000))
  expectRefusal(await stalled.response, { code: 'request_timeout' })
})

test('a body in one-byte chunks is received, and so is what follows it on the connection', async () => {
  const uploader = await newUploader(strict)
  const connection = await rawConnection(strict.url)
  const headers = (more: string) => `Host: x\r\nAuthorization: Bearer ${uploader.secret}\r\n${more}\r\n`
  const body = `${frame.before}${'x'.repeat(20_000)}${frame.after}`
  const chunks = [...body].map((letter) => `1\r\n${letter}\r\n`).join('')
  const type = `Content-Type: ${frame.contentType}\r\nTransfer-Encoding: chunked\r\n`
  connection.send(`POST /v1/media HTTP/1.1\r\n${headers(type)}${chunks}0\r\n\r\n`)
  connection.send(`GET /v1/me HTTP/1.1\r\n${headers('')}`)
  const [stored, me] = await connection.responses(2)
  expect([stored?.status, stored?.body, me?.status]).toMatchObject([201, { size: 20_000 }, 200])
  connection.socket.destroy()
})

test('a workspace receives its share of uploads at a time, and another one is not affected', async () => {
  const [ours, theirs] = [await newUploader(strict), await newUploader(strict)]
  const first = startUpload(ours, 10_000)
  await first.write(Buffer.alloc(5_000))
  await until('it has begun', async () => (await statesOf(ours, strict)).length === 1)
  const second = await upload(ours, Buffer.from('x'))
  expectRefusal(second, {
    code: 'service_unavailable',
    message: 'The service is receiving too many files of this workspace. Try again shortly.',
    headers: { 'retry-after': '1' },
  })
  expect((await upload(theirs, Buffer.from('x'))).status).toBe(201)
  await first.write(Buffer.alloc(5_000))
  first.end()
  expect((await first.response).status).toBe(201)
  expect((await upload(ours, Buffer.from('x'))).status).toBe(201)
})

test('the uploads of a workspace take no more than its storage, also together, and expired ones no longer count', async () => {
  const [ours, theirs] = [await newUploader(strict), await newUploader(strict)]
  const retried = async (size: number) => {
    for (;;) {
      const response = await upload(ours, randomBytes(size))
      if (response.status !== 503) return response
    }
  }
  const responses = await Promise.all(Array.from({ length: 5 }, () => retried(300_000)))
  expect(responses.map(({ status }) => status).sort()).toEqual([201, 201, 201, 413, 413])
  const refused = responses.find(({ status }) => status === 413)
  expect(refused?.body).toMatchObject({
    error: {
      code: 'payload_too_large',
      message: expect.stringContaining('may take 1 MB'),
      details: { limit: 1_000_000 },
    },
  })
  expect((await upload(theirs, randomBytes(300_000))).status).toBe(201)
  // Without a Content-Length too.
  const kept = await chunksOf(theirs, strict)
  const unknown = startUpload(theirs)
  await unknown.write(randomBytes(710_000))
  unknown.end()
  expect((await unknown.response).status).toBe(413)
  expect(await chunksOf(theirs, strict)).toBe(kept)
  await strict.passDays(31)
  strict.clock.forward({ seconds: 1 })
  await deleteOldFiles(strict.db, strict.clock.now(), 365)
  expect((await upload(ours, randomBytes(300_000))).status).toBe(201)
})

test('received files count together with uploads', async () => {
  const uploader = await newUploader(strict)
  await newReceivedFile(strict, uploader, { bytes: randomBytes(800_000) })
  const { status, body } = await upload(uploader, randomBytes(300_000))
  expect([status, body]).toMatchObject([413, { error: { code: 'payload_too_large', details: { limit: 1_000_000 } } }])
  expect((await upload(uploader, randomBytes(150_000))).status).toBe(201)
})

test('an upload is kept for a day after it expires, and its row without a name for 30 days', async () => {
  const uploader = await newUploader()
  expect((await upload(uploader, Buffer.from('x'))).status).toBe(201)
  const after = async (days: number) => {
    await server.passDays(days)
    server.clock.forward({ seconds: 1 })
    // A shorter retention is for received files only.
    await deleteOldFiles(server.db, server.clock.now(), 1)
    return [await statesOf(uploader), await chunksOf(uploader)]
  }
  expect(await after(30)).toEqual([['fetched'], 1])
  expect(await after(1)).toEqual([['gone'], 0])
  const named = await server.db.rows('select 1 from flow_files where workspace_id = $1 and file_name <> $2', [
    uploader.id,
    '',
  ])
  expect(named).toEqual([])
  expect(await after(29)).toEqual([[], 0])
})
