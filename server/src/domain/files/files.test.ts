import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { expectCommonHeaders, expectRefusal } from '../../../testing/expect-error.ts'
import { newFile } from '../../../testing/files.ts'
import { fileOf, useForms } from '../../../testing/forms.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { getFlowResponse } from '../flows/flows.ts'
import { newFetcher } from './fetcher.ts'
import { deleteOldFiles } from './fetching.ts'

const server = useTestServer()
const forms = useForms(server)

let people = 0
const newPhone = () => String(16_505_570_000 + ++people)

async function filledForm(input: Parameters<Awaited<ReturnType<typeof forms.newShop>>['fillForm']>[1]) {
  const shop = await forms.newShop()
  const phone = newPhone()
  await shop.sendForm(phone)
  return { shop, phone, submission: await shop.fillForm(phone, input) }
}

const upload = (bytes: Buffer, filename: string, mimeType = 'image/jpeg') => ({
  base64: bytes.toString('base64'),
  filename,
  mimeType,
})

/** Begins as a JPEG does. A file that begins with < is not served as an image. */
function photo(size: number): Buffer {
  const bytes = randomBytes(size)
  bytes[0] = 0xff
  return bytes
}

const statesOf = async (workspaceId: string, id: string) =>
  (await getFlowResponse(server.db.within(workspaceId), workspaceId, id)).files.map(({ state }) => state)

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())

test('ten files of two fields are listed, fetched and served as uploaded', async () => {
  const contents = Array.from({ length: 10 }, (_, n) => photo(n === 3 ? 600_000 : 1000 + n))
  const files = contents.map((bytes, n) => upload(bytes, `f${n}.jpg`))
  const { shop, submission } = await filledForm({
    values: { note: 'ten' },
    files: { photos: files.slice(0, 6), documents: files.slice(6) },
  })
  expect(submission.files).toEqual(
    files.map(({ filename, mimeType }, index) => ({
      field: index < 6 ? 'photos' : 'documents',
      index,
      file_name: filename,
      mime_type: mimeType,
    })),
  )
  await forms.fetcher.drain()
  for (const [index, bytes] of contents.entries()) {
    const response = await shop.fetchFile(fileOf(submission.id, index))
    expect(response.status).toBe(200)
    expect((await bytesOf(response)).equals(bytes), `file ${index}`).toBe(true)
  }
  expect(await statesOf(shop.workspace.id, submission.id)).toMatchObject(
    contents.map(({ length }) => ({ kind: 'fetched', size: length, content_type: 'image/jpeg' })),
  )
  expect((await shop.fetchFile(fileOf(submission.id, 10))).status).toBe(404)
  const { body } = await shop.workspace.call(`/v1/flow_responses/${submission.id}`)
  expect(body).toEqual({ ...submission, object: 'flow_response', content_removed_at: null })
})

test('a file is served as an attachment that browsers neither display nor run', async () => {
  const bytes = photo(1234)
  const { shop, submission } = await filledForm({ files: { photos: [upload(bytes, 'carte d’été "1".jpg')] } })
  await forms.fetcher.drain()
  for (const method of ['GET', 'HEAD']) {
    const response = await shop.fetchFile(fileOf(submission.id), { method })
    expect(response.status).toBe(200)
    expectCommonHeaders(response)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': '1234',
      'content-disposition': `attachment; filename="carte d__t_ _1_.jpg"; filename*=UTF-8''carte%20d%E2%80%99%C3%A9t%C3%A9%20%221%22.jpg`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    })
    expect((await bytesOf(response)).length).toBe(method === 'HEAD' ? 0 : 1234)
  }
})

test('HTML declared as an image, and types that browsers run, are served as application/octet-stream', async () => {
  const page = Buffer.from('\n <html><script>alert(1)</script>')
  const types = ['image/png', 'text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/html\r\nx: y', '../x']
  const files = types.map((mimeType, n) => upload(n === 0 ? page : Buffer.from('x'), 'a.png', mimeType))
  const { shop, submission } = await filledForm({ files: { photos: files } })
  await forms.fetcher.drain()
  for (const index of types.keys()) {
    const response = await shop.fetchFile(fileOf(submission.id, index))
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/octet-stream'])
    await response.arrayBuffer()
  }
})

test('files of an encrypted form are decrypted, and their keys are neither kept nor published', async () => {
  const contents = [randomBytes(300_001), Buffer.alloc(0), randomBytes(16)]
  const { shop, submission } = await filledForm({
    encrypted: true,
    files: { photos: contents.map((bytes, n) => upload(bytes, `f${n}.png`)) },
  })
  expect(submission.files.map(({ mime_type }) => mime_type)).toEqual(['image/png', 'image/png', 'image/png'])
  expect(submission.response.photos).toMatchObject([{ file_name: 'f0.png', media_id: expect.any(String) }, {}, {}])
  await forms.fetcher.drain()
  for (const [index, bytes] of contents.entries()) {
    const response = await shop.fetchFile(fileOf(submission.id, index))
    expect((await bytesOf(response)).equals(bytes), `file ${index}`).toBe(true)
  }
  const stored = await server.db.rows<{ text: string }>(
    `select content::text as text from inbound_messages where workspace_id = $1
     union all select response::text || coalesce(f.source::text, '')
       from flow_responses r join flow_files f on f.response_id = r.id where r.workspace_id = $1`,
    [shop.workspace.id],
  )
  expect(stored.length).toBeGreaterThan(3)
  expect(JSON.stringify([stored, submission])).not.toMatch(/encryption|hmac|cdn_url|hmacKey/)
})

test('a file that the network no longer has is requested three times, then given up', async () => {
  const { shop, submission } = await filledForm({ files: { photos: [upload(randomBytes(10), 'a.jpg')] } })
  const { control } = forms.sending.network
  const [media] = submission.response.photos as { id: string }[]
  const deleted = await fetch(`${forms.sending.network.simulator.url}/v25.0/${media?.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${shop.account.token}` },
  })
  expect(deleted.status).toBe(200)
  for (const kind of ['waiting', 'waiting', 'gone']) {
    server.clock.forward({ seconds: 5 })
    await forms.fetcher.drain()
    expect(await statesOf(shop.workspace.id, submission.id)).toMatchObject([{ kind }])
  }
  expect(await statesOf(shop.workspace.id, submission.id)).toEqual([{ kind: 'gone', why: 'missing' }])
  const response = await shop.workspace.call(fileOf(submission.id))
  expectRefusal(response, { code: 'file_expired', message: 'WhatsApp deleted this file.' })
  const requests = control.log
    .list({ limit: 1_000_000 })
    .filter((line) => 'url' in line && line.url.includes(`/${media?.id}`))
  expect(requests.length).toBe(4)
})

test.each([false, true])('a file with the wrong hash is never served (encrypted: %s)', async (encrypted) => {
  const sha256 = createHash('sha256').update('another').digest('base64')
  const { shop, submission } = await filledForm({
    encrypted,
    files: { photos: [{ ...upload(randomBytes(500_000), 'a.jpg'), sha256 }] },
  })
  for (let attempt = 0; attempt < 3; attempt++) {
    server.clock.forward({ seconds: 5 })
    await forms.fetcher.drain()
  }
  expect(await statesOf(shop.workspace.id, submission.id)).toEqual([{ kind: 'gone', why: 'wrong_hash' }])
  const response = await shop.workspace.call(fileOf(submission.id))
  expectRefusal(response, { code: 'file_expired', message: expect.stringContaining('does not match its checksum') })
  expect(await server.db.rows('select 1 from file_chunks where workspace_id = $1', [shop.workspace.id])).toEqual([])
})

test('no request is made to hosts that are not the network’s, or with a malformed media ID', async () => {
  const keys = { iv: 16, encryption_key: 32, hmac_key: 32 }
  const metadata = Object.fromEntries(
    Object.entries(keys).map(([name, size]) => [name, randomBytes(size).toString('base64')]),
  )
  const photos = ['http://127.0.0.1:9/x', 'https://evil.example/x'].map((cdn_url) => ({
    cdn_url,
    media_id: 'm',
    file_name: 'a.jpg',
    encryption_metadata: metadata,
  }))
  const more = ['..', 'me/accounts', '1?fields=x'].map((id) => ({ id, mime_type: 'image/png', file_name: 'a.png' }))
  const { shop, submission } = await filledForm({ responseJson: JSON.stringify({ photos, more }) })
  await forms.fetcher.drain()
  const states = await statesOf(shop.workspace.id, submission.id)
  expect(states).toMatchObject([
    { kind: 'waiting', last_error: 'foreign_file_host' },
    { kind: 'waiting', last_error: 'foreign_file_host' },
    ...more.map(() => ({ kind: 'waiting', last_error: 'not a media ID' })),
  ])
})

test('a request for a file being fetched waits briefly, then gets 503 with Retry-After', async () => {
  const { shop, submission } = await filledForm({
    files: { photos: [upload(Buffer.from('late'), 'a.txt', 'text/plain')] },
  })
  const early = await shop.workspace.call(fileOf(submission.id))
  const message = 'This file is still being downloaded from WhatsApp. Try again later.'
  expectRefusal(early, { code: 'service_unavailable', message, headers: { 'retry-after': '1' } })
  const waiting = shop.fetchFile(fileOf(submission.id))
  await new Promise((resolve) => setTimeout(resolve, 100))
  await forms.fetcher.drain()
  expect(await (await waiting).text()).toBe('late')
})

test('fetching is retried for seven days, then the file is given up', async () => {
  const { shop, submission } = await filledForm({ files: { photos: [upload(randomBytes(10), 'a.jpg')] } })
  const { control } = forms.sending.network
  control.tokens.change(shop.account.token, { revoked: true })
  let attempts = 0
  for (; attempts < 100; attempts++) {
    await forms.fetcher.drain()
    const [state] = await statesOf(shop.workspace.id, submission.id)
    if (state?.kind !== 'waiting') break
    const inMs = new Date(state.next_try_at).getTime() - server.clock.now().getTime()
    const { headers } = await shop.workspace.call(fileOf(submission.id))
    if (inMs > 5000) expect(headers.get('retry-after')).toBe(String(Math.min(3600, inMs / 1000)))
    server.clock.forward({ ms: inMs })
  }
  expect(await statesOf(shop.workspace.id, submission.id)).toEqual([{ kind: 'gone', why: 'too_late' }])
  expect(attempts).toBeGreaterThan(20)
  control.tokens.change(shop.account.token, { revoked: false })
  // The partitions of the day that it is after a week.
  await server.passDays(0)
})

test('a file that can never be requested is given up after seven days', async () => {
  const { shop, submission } = await filledForm({ files: { photos: [upload(randomBytes(10), 'a.jpg')] } })
  await server.db.change(`update connections set access_token_sealed = 'test:AAAA' where workspace_id = $1`, [
    shop.workspace.id,
  ])
  await forms.fetcher.drain()
  expect(await statesOf(shop.workspace.id, submission.id)).toMatchObject([
    { kind: 'waiting', attempts: 1, last_error: 'internal error' },
  ])
  await server.passDays(7)
  await forms.fetcher.drain()
  expect(await statesOf(shop.workspace.id, submission.id)).toEqual([{ kind: 'gone', why: 'too_late' }])
})

test('byte ranges are served across chunks, and one outside the file is refused', async () => {
  const workspace = await newWorkspace(server)
  const bytes = randomBytes(700_000)
  const path = await newFile(server, workspace, { bytes })
  const get = (headers: Record<string, string>) =>
    fetch(server.url + path, { headers: { authorization: `Bearer ${workspace.secret}`, ...headers } })
  const parts: [string, number, number][] = [
    ['bytes=0-0', 0, 0],
    ['bytes=262143-262144', 262_143, 262_144],
    ['bytes=100-600000', 100, 600_000],
    ['bytes=699999-', 699_999, 699_999],
    ['bytes=-5', 699_995, 699_999],
    ['bytes=5-9999999', 5, 699_999],
  ]
  for (const [range, first, last] of parts) {
    const response = await get({ range })
    expect([response.status, response.headers.get('content-range')], range).toEqual([
      206,
      `bytes ${first}-${last}/700000`,
    ])
    expect(response.headers.get('content-length')).toBe(String(last - first + 1))
    expect((await bytesOf(response)).equals(bytes.subarray(first, last + 1)), range).toBe(true)
  }
  for (const range of ['bytes=0-1,5-6', 'lines=1-2', 'bytes=9-2', 'bytes=-']) {
    const response = await get({ range })
    expect([response.status, (await bytesOf(response)).length], range).toEqual([200, 700_000])
  }
  for (const range of ['bytes=700000-', 'bytes=-0']) {
    const response = await workspace.call(path, { headers: { range } })
    expect(response.headers.get('content-range')).toBe('bytes */700000')
    expectRefusal(response, { code: 'range_not_satisfiable' })
  }
  const tag = (await get({ range: 'bytes=0-0' })).headers.get('etag') as string
  expect((await get({ range: 'bytes=0-0', 'if-range': tag })).status).toBe(206)
  const changed = await get({ range: 'bytes=0-0', 'if-range': '"another"' })
  expect([changed.status, (await bytesOf(changed)).length]).toEqual([200, 700_000])
})

test('a file of another workspace gets the same 404 as an unknown file', async () => {
  const [ours, theirs] = [await newWorkspace(server), await newWorkspace(server)]
  const path = await newFile(server, theirs, {})
  const gone = await newFile(server, theirs, { gone: 'retention' })
  const unknown = path.replace(/frs_[0-9a-f-]+/, `frs_${newUuid()}`)
  for (const each of [
    path,
    gone,
    unknown,
    path.replace(/0$/, '1'),
    path.replace(/0$/, '00'),
    path.replace(/0$/, 'x'),
  ]) {
    for (const headers of [{}, { range: 'bytes=99999-' }]) {
      expectRefusal(await ours.call(each, { headers }), { code: 'not_found', message: 'Not found.' })
    }
  }
  expect((await theirs.call(path, { method: 'HEAD' })).status).toBe(200)
  const { secret } = await theirs.newKey({ scopes: ['messages:read'] })
  expect((await server.call(path, { key: secret })).status).toBe(403)
})

test('a file with missing chunks is never served as if it were complete', async () => {
  const workspace = await newWorkspace(server)
  const path = await newFile(server, workspace, { bytes: randomBytes(600_000) })
  const get = () => fetch(server.url + path, { headers: { authorization: `Bearer ${workspace.secret}` } })
  await server.db.change('delete from file_chunks where workspace_id = $1 and number = 2', [workspace.id])
  await expect(get().then(bytesOf)).rejects.toThrow()
  await server.db.change('delete from file_chunks where workspace_id = $1', [workspace.id])
  expectRefusal(await workspace.call(path), { code: 'internal_error' })
})

test('an empty file is served with 200 and no bytes', async () => {
  const { shop, submission } = await filledForm({ files: { photos: [upload(Buffer.alloc(0), 'a.jpg')] } })
  await forms.fetcher.drain()
  const response = await shop.fetchFile(fileOf(submission.id))
  expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([200, '0', ''])
})

test('after its retention period a file is expired and its bytes are deleted', async () => {
  const workspace = await newWorkspace(server)
  const old = await newFile(server, workspace, {})
  await server.passDays(30)
  const young = await newFile(server, workspace, {})
  server.clock.forward({ seconds: 1 })
  await deleteOldFiles(server.db, server.clock.now(), 30)
  const response = await workspace.call(old)
  expectRefusal(response, { code: 'file_expired', message: 'This file was deleted after its retention period.' })
  expect((await workspace.call(young, { method: 'HEAD' })).status).toBe(200)
  expect(await server.db.rows('select 1 from file_chunks where workspace_id = $1', [workspace.id])).toHaveLength(1)
})

test('with several processes, each file is fetched once', async () => {
  const files = Array.from({ length: 10 }, (_, n) => upload(randomBytes(100), `${n}.jpg`))
  const { shop, submission } = await filledForm({ files: { photos: files } })
  const { network } = forms.sending.network
  const others = Array.from({ length: 3 }, () => newFetcher(network, newLogger('silent')))
  await Promise.all([forms.fetcher, ...others].map((fetcher) => fetcher.drain()))
  const rows = await server.db.rows<{ attempts: number }>('select attempts from flow_files where workspace_id = $1', [
    shop.workspace.id,
  ])
  expect(rows.map(({ attempts }) => attempts)).toEqual(Array(10).fill(1))
  expect(await statesOf(shop.workspace.id, submission.id)).toMatchObject(Array(10).fill({ kind: 'fetched' }))
})
