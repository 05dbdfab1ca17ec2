import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { expectCommonHeaders, expectRefusal } from '../../../testing/expect-error.ts'
import { newFile } from '../../../testing/files.ts'
import { fileOf, useForms } from '../../../testing/forms.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { newLogger } from '../../lib/logger.ts'
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
  return { shop, phone, told: await shop.fillForm(phone, input) }
}

const upload = (bytes: Buffer, filename: string, mimeType = 'image/jpeg') => ({
  base64: bytes.toString('base64'),
  filename,
  mimeType,
})

const statesOf = async (workspaceId: string, id: string) =>
  (await getFlowResponse(server.db.within(workspaceId), workspaceId, id)).files.map(({ state }) => state)

const bytesOf = async (answer: Response) => Buffer.from(await answer.arrayBuffer())

test('ten files of two fields are listed, fetched at once and given out as they were uploaded', async () => {
  const contents = Array.from({ length: 10 }, (_, n) => randomBytes(n === 3 ? 600_000 : 1000 + n))
  const files = contents.map((bytes, n) => upload(bytes, `f${n}.jpg`))
  const { shop, told } = await filledForm({
    values: { note: 'ten' },
    files: { photos: files.slice(0, 6), documents: files.slice(6) },
  })
  expect(told.files).toEqual(
    files.map(({ filename, mimeType }, index) => ({
      field: index < 6 ? 'photos' : 'documents',
      index,
      file_name: filename,
      mime_type: mimeType,
    })),
  )
  await forms.fetcher.drain()
  for (const [index, bytes] of contents.entries()) {
    const answer = await shop.fetchFile(fileOf(told.id, index))
    expect(answer.status).toBe(200)
    expect((await bytesOf(answer)).equals(bytes), `file ${index}`).toBe(true)
  }
  expect(await statesOf(shop.workspace.id, told.id)).toMatchObject(
    contents.map(({ length }) => ({ kind: 'fetched', size: length, content_type: 'image/jpeg' })),
  )
  expect((await shop.fetchFile(fileOf(told.id, 10))).status).toBe(404)
  const { body } = await shop.workspace.call(`/v1/flow_responses/${told.id}`)
  expect(body).toEqual({ ...told, object: 'flow_response' })
})

test('what is given out says what it is and can neither be shown nor run', async () => {
  const bytes = randomBytes(1234)
  const { shop, told } = await filledForm({ files: { photos: [upload(bytes, 'carte d’été "1".jpg')] } })
  await forms.fetcher.drain()
  for (const method of ['GET', 'HEAD']) {
    const answer = await shop.fetchFile(fileOf(told.id), { method })
    expect(answer.status).toBe(200)
    expectCommonHeaders(answer)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/jpeg',
      'content-length': '1234',
      'content-disposition': `attachment; filename="carte d__t_ _1_.jpg"; filename*=UTF-8''carte%20d%E2%80%99%C3%A9t%C3%A9%20%221%22.jpg`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    })
    expect((await bytesOf(answer)).length).toBe(method === 'HEAD' ? 0 : 1234)
  }
})

test('a page that passes itself off as a picture, and types that a browser acts upon, are only bytes', async () => {
  const page = Buffer.from('\n <html><script>alert(1)</script>')
  const types = ['image/png', 'text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/html\r\nx: y', '../x']
  const files = types.map((mimeType, n) => upload(n === 0 ? page : Buffer.from('x'), 'a.png', mimeType))
  const { shop, told } = await filledForm({ files: { photos: files } })
  await forms.fetcher.drain()
  for (const index of types.keys()) {
    const answer = await shop.fetchFile(fileOf(told.id, index))
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/octet-stream'])
    await answer.arrayBuffer()
  }
})

test('an encrypted form’s files are opened, and their keys are told to nobody', async () => {
  const contents = [randomBytes(300_001), Buffer.alloc(0), randomBytes(16)]
  const { shop, told } = await filledForm({
    encrypted: true,
    files: { photos: contents.map((bytes, n) => upload(bytes, `f${n}.png`)) },
  })
  expect(told.files.map(({ mime_type }) => mime_type)).toEqual(['image/png', 'image/png', 'image/png'])
  expect(told.response.photos).toMatchObject([{ file_name: 'f0.png', media_id: expect.any(String) }, {}, {}])
  await forms.fetcher.drain()
  for (const [index, bytes] of contents.entries()) {
    const answer = await shop.fetchFile(fileOf(told.id, index))
    expect((await bytesOf(answer)).equals(bytes), `file ${index}`).toBe(true)
  }
  const kept = await server.db.rows<{ text: string }>(
    `select content::text as text from inbound_messages where workspace_id = $1
     union all select response::text || coalesce(f.source::text, '')
       from flow_responses r join flow_files f on f.response_id = r.id where r.workspace_id = $1`,
    [shop.workspace.id],
  )
  expect(kept.length).toBeGreaterThan(3)
  expect(JSON.stringify([kept, told])).not.toMatch(/encryption|hmac|cdn_url|hmacKey/)
})

test('a file that the network no longer has is asked for three times, then it is gone', async () => {
  const { shop, told } = await filledForm({ files: { photos: [upload(randomBytes(10), 'a.jpg')] } })
  const { control } = forms.sending.network
  const [media] = told.response.photos as { id: string }[]
  const deleted = await fetch(`${forms.sending.network.simulator.url}/v25.0/${media?.id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${shop.account.token}` },
  })
  expect(deleted.status).toBe(200)
  for (const kind of ['waiting', 'waiting', 'gone']) {
    server.clock.forward({ seconds: 5 })
    await forms.fetcher.drain()
    expect(await statesOf(shop.workspace.id, told.id)).toMatchObject([{ kind }])
  }
  expect(await statesOf(shop.workspace.id, told.id)).toEqual([{ kind: 'gone', why: 'missing' }])
  const answer = await shop.workspace.call(fileOf(told.id))
  expectRefusal(answer, { code: 'file_expired', message: 'The network no longer has this file.' })
  const asked = control.log
    .list({ limit: 1_000_000 })
    .filter((line) => 'url' in line && line.url.includes(`/${media?.id}`))
  expect(asked.length).toBe(4)
})

test.each([false, true])(
  'a file that is not the one announced is never given out (encrypted: %s)',
  async (encrypted) => {
    const sha256 = createHash('sha256').update('another').digest('base64')
    const { shop, told } = await filledForm({
      encrypted,
      files: { photos: [{ ...upload(randomBytes(500_000), 'a.jpg'), sha256 }] },
    })
    for (let attempt = 0; attempt < 3; attempt++) {
      server.clock.forward({ seconds: 5 })
      await forms.fetcher.drain()
    }
    expect(await statesOf(shop.workspace.id, told.id)).toEqual([{ kind: 'gone', why: 'wrong_hash' }])
    const answer = await shop.workspace.call(fileOf(told.id))
    expectRefusal(answer, { code: 'file_expired', message: expect.stringContaining('not what was uploaded') })
    expect(await server.db.rows('select 1 from file_chunks where workspace_id = $1', [shop.workspace.id])).toEqual([])
  },
)

test('a file on a host that is not the network’s is not asked for', async () => {
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
  const { shop, told } = await filledForm({ responseJson: JSON.stringify({ photos, more }) })
  await forms.fetcher.drain()
  const states = await statesOf(shop.workspace.id, told.id)
  expect(states).toMatchObject([
    { kind: 'waiting', last_error: 'foreign_file_host' },
    { kind: 'waiting', last_error: 'foreign_file_host' },
    ...more.map(() => ({ kind: 'waiting', last_error: 'not an id of the network' })),
  ])
})

test('while a file is on its way the answer waits a moment, then says when to come back', async () => {
  const { shop, told } = await filledForm({ files: { photos: [upload(Buffer.from('late'), 'a.txt', 'text/plain')] } })
  const early = await shop.workspace.call(fileOf(told.id))
  const message = 'This file is still being fetched from the network.'
  expectRefusal(early, { code: 'service_unavailable', message, headers: { 'retry-after': '1' } })
  const waiting = shop.fetchFile(fileOf(told.id))
  await new Promise((resolve) => setTimeout(resolve, 100))
  await forms.fetcher.drain()
  expect(await (await waiting).text()).toBe('late')
})

test('a network that is away is tried again for seven days, and no longer', async () => {
  const { shop, told } = await filledForm({ files: { photos: [upload(randomBytes(10), 'a.jpg')] } })
  const { control } = forms.sending.network
  control.tokens.change(shop.account.token, { revoked: true })
  let tries = 0
  for (; tries < 100; tries++) {
    await forms.fetcher.drain()
    const [state] = await statesOf(shop.workspace.id, told.id)
    if (state?.kind !== 'waiting') break
    const inMs = new Date(state.next_try_at).getTime() - server.clock.now().getTime()
    const { headers } = await shop.workspace.call(fileOf(told.id))
    if (inMs > 5000) expect(headers.get('retry-after')).toBe(String(Math.min(3600, inMs / 1000)))
    server.clock.forward({ ms: inMs })
  }
  expect(await statesOf(shop.workspace.id, told.id)).toEqual([{ kind: 'gone', why: 'too_late' }])
  expect(tries).toBeGreaterThan(20)
  control.tokens.change(shop.account.token, { revoked: false })
})

test('a file that every process dies over, or that we cannot ask for, is not tried for ever', async () => {
  const { shop, told } = await filledForm({ files: { photos: [upload(randomBytes(10), 'a.jpg')] } })
  await server.db.change(`update connections set access_token_sealed = 'test:AAAA' where workspace_id = $1`, [
    shop.workspace.id,
  ])
  await forms.fetcher.drain()
  expect(await statesOf(shop.workspace.id, told.id)).toMatchObject([
    { kind: 'waiting', attempts: 1, last_error: 'a fault of our own' },
  ])
  await server.passDays(7)
  await forms.fetcher.drain()
  expect(await statesOf(shop.workspace.id, told.id)).toEqual([{ kind: 'gone', why: 'too_late' }])
})

test('a part is given out as asked for, across chunks; one that lies outside is refused', async () => {
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
    const answer = await get({ range })
    expect([answer.status, answer.headers.get('content-range')], range).toEqual([206, `bytes ${first}-${last}/700000`])
    expect(answer.headers.get('content-length')).toBe(String(last - first + 1))
    expect((await bytesOf(answer)).equals(bytes.subarray(first, last + 1)), range).toBe(true)
  }
  for (const range of ['bytes=0-1,5-6', 'lines=1-2', 'bytes=9-2', 'bytes=-']) {
    const answer = await get({ range })
    expect([answer.status, (await bytesOf(answer)).length], range).toEqual([200, 700_000])
  }
  for (const range of ['bytes=700000-', 'bytes=-0']) {
    const answer = await workspace.call(path, { headers: { range } })
    expect(answer.headers.get('content-range')).toBe('bytes */700000')
    expectRefusal(answer, { code: 'range_not_satisfiable' })
  }
  const tag = (await get({ range: 'bytes=0-0' })).headers.get('etag') as string
  expect((await get({ range: 'bytes=0-0', 'if-range': tag })).status).toBe(206)
  const changed = await get({ range: 'bytes=0-0', 'if-range': '"another"' })
  expect([changed.status, (await bytesOf(changed)).length]).toEqual([200, 700_000])
})

test('another workspace’s file is as unknown as one that never was, whatever is asked of it', async () => {
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

test('a file whose bytes are lost is never given out in part as if it were whole', async () => {
  const workspace = await newWorkspace(server)
  const path = await newFile(server, workspace, { bytes: randomBytes(600_000) })
  const get = () => fetch(server.url + path, { headers: { authorization: `Bearer ${workspace.secret}` } })
  await server.db.change('delete from file_chunks where workspace_id = $1 and number = 2', [workspace.id])
  await expect(get().then(bytesOf)).rejects.toThrow()
  await server.db.change('delete from file_chunks where workspace_id = $1', [workspace.id])
  expectRefusal(await workspace.call(path), { code: 'internal_error' })
})

test('an empty file is a file', async () => {
  const { shop, told } = await filledForm({ files: { photos: [upload(Buffer.alloc(0), 'a.jpg')] } })
  await forms.fetcher.drain()
  const answer = await shop.fetchFile(fileOf(told.id))
  expect([answer.status, answer.headers.get('content-length'), await answer.text()]).toEqual([200, '0', ''])
})

test('past its retention a file is gone and leaves no bytes behind', async () => {
  const workspace = await newWorkspace(server)
  const old = await newFile(server, workspace, {})
  await server.passDays(30)
  const young = await newFile(server, workspace, {})
  server.clock.forward({ seconds: 1 })
  await deleteOldFiles(server.db, server.clock.now(), 30)
  const answer = await workspace.call(old)
  expectRefusal(answer, { code: 'file_expired', message: 'This file is past its retention.' })
  expect((await workspace.call(young, { method: 'HEAD' })).status).toBe(200)
  expect(await server.db.rows('select 1 from file_chunks where workspace_id = $1', [workspace.id])).toHaveLength(1)
})

test('many processes fetch each file once', async () => {
  const files = Array.from({ length: 10 }, (_, n) => upload(randomBytes(100), `${n}.jpg`))
  const { shop, told } = await filledForm({ files: { photos: files } })
  const { network } = forms.sending.network
  const others = Array.from({ length: 3 }, () => newFetcher(network, newLogger('silent')))
  await Promise.all([forms.fetcher, ...others].map((fetcher) => fetcher.drain()))
  const rows = await server.db.rows<{ attempts: number }>('select attempts from flow_files where workspace_id = $1', [
    shop.workspace.id,
  ])
  expect(rows.map(({ attempts }) => attempts)).toEqual(Array(10).fill(1))
  expect(await statesOf(shop.workspace.id, told.id)).toMatchObject(Array(10).fill({ kind: 'fetched' }))
})
