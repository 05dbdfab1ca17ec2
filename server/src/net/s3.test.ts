import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type FileStoreServer, startFileStore } from '../../testing/file-store.ts'
import { Counters } from '../telemetry/counters.ts'
import { newLogger } from '../telemetry/logger.ts'
import type { ObjectStore } from './object-store.ts'
import { newS3Store } from './s3.ts'
import { readS3Url } from './s3-settings.ts'

let server: FileStoreServer
beforeAll(async () => {
  server = await startFileStore()
})
afterAll(() => server.remove())

const silenceMs = 500

function open(url: string, env: Record<string, string>, limits = {}) {
  const settings = readS3Url(url, env)
  if ('fault' in settings) throw new Error(settings.fault)
  const lines: string[] = []
  const log = newLogger('debug', { write: (line) => void lines.push(line) })
  const counters = new Counters()
  const store = newS3Store({ ...settings, takesNew: true }, log, counters, limits)
  onTestFinished(() => store.close())
  return { store, lines, counts: () => Object.fromEntries(counters.counts('file store requests')) }
}

const openServer = (more: Record<string, string> = {}) =>
  open(more.PARLEY_FILES_URL ?? server.env.PARLEY_FILES_URL ?? '', { ...server.env, ...more })

/** A store that responds as the test says; `onUpload` before it has consented to the upload. */
async function serve(listener: RequestListener, onUpload?: RequestListener, limits = {}) {
  const http = createServer(listener)
  if (onUpload) http.on('checkContinue', onUpload)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  const endpoint = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  return open(`s3://bucket/p?endpoint=${endpoint}`, { ...server.env, AWS_SESSION_TOKEN: 'session' }, limits)
}

const contentOf = (bytes: Buffer) => ({
  size: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
  async *open() {
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
  },
})

async function read(store: ObjectStore, key: string, first: number, last: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of await store.get(key, { first, last })) pieces.push(piece)
  return Buffer.concat(pieces)
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}

test('objects are written, read in parts, replaced and deleted', async () => {
  const { store, lines } = openServer()
  const bytes = randomBytes(3_000_000)
  await store.put('files/a', contentOf(bytes))
  const size = bytes.length
  for (const [first, last] of [
    [0, size - 1],
    [0, 0],
    [7, 7],
    [100, 2_000_000],
    [size - 1, size - 1],
  ] as const) {
    expect((await read(store, 'files/a', first, last)).equals(bytes.subarray(first, last + 1)), `${first}`).toBe(true)
  }
  await store.put('files/a', contentOf(Buffer.from('other')))
  expect(String(await read(store, 'files/a', 0, 4))).toBe('other')
  await store.put('files/empty', contentOf(Buffer.alloc(0)))
  expect(server.objects().sort()).toEqual(['files/a', 'files/empty'])
  for (const key of ['files/a', 'files/a', 'files/empty', 'never/was']) await store.delete(key)
  expect(server.objects()).toEqual([])
  await expect(read(store, 'files/a', 0, 1)).rejects.toMatchObject({ kind: 'missing', message: '404 NoSuchKey' })
  await store.check()
  expect(lines).toEqual([])
})

test.each([
  ['wrong credentials', { AWS_SECRET_ACCESS_KEY: 'not-the-secret' }, '403 SignatureDoesNotMatch'],
  ['an unknown access key', { AWS_ACCESS_KEY_ID: 'unknown-id' }, '403 InvalidAccessKeyId'],
  ['a missing bucket', { PARLEY_FILES_URL: 'missing' }, '404 NoSuchBucket'],
  ['a store that is down', { PARLEY_FILES_URL: 'down' }, 'ECONNREFUSED'],
])('%s: every request fails, and the log says why without the secret', async (_name, changes, reason) => {
  const urls = {
    missing: `s3://missing-bucket?endpoint=${server.url}`,
    down: 's3://bucket?endpoint=http://127.0.0.1:1',
  }
  const { PARLEY_FILES_URL: url, ...env } = changes as Record<string, string>
  const more = url === undefined ? env : { PARLEY_FILES_URL: urls[url as keyof typeof urls] }
  const { store, lines, counts } = openServer(more)
  const failure = { kind: 'unavailable', message: expect.stringContaining(reason) }
  await expect(store.put('files/a', contentOf(randomBytes(2_000_000)))).rejects.toMatchObject(failure)
  await expect(read(store, 'files/a', 0, 1)).rejects.toMatchObject(failure)
  await expect(store.delete('files/a')).rejects.toMatchObject(failure)
  await expect(store.check()).rejects.toMatchObject(failure)
  expect(store.isDown).toBe(true)
  expect(counts()).toEqual({ unavailable: 4 })
  // One line in ten seconds.
  expect(lines).toHaveLength(1)
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ event: 'files.store_failed', operation: 'put' })
  expect(lines[0]).toContain(reason)
  expect(lines[0]).not.toMatch(/not-the-secret|S3RVER|unknown-id/)
})

test('a request is repeated if the store is busy or the connection breaks, with all of its bytes', async () => {
  const bodies: number[] = []
  const tokens: unknown[] = []
  const { store, lines, counts } = await serve(async (request, response) => {
    if (bodies.length === 1) {
      bodies.push(0)
      return void request.socket.destroy()
    }
    tokens.push(request.headers['x-amz-security-token'])
    bodies.push((await bodyOf(request)).length)
    response.writeHead(bodies.length === 1 ? 503 : 200).end('<Error><Code>SlowDown</Code></Error>')
  })
  await store.put('p/a', contentOf(randomBytes(200_000)))
  expect(bodies).toEqual([200_000, 0, 200_000])
  expect(tokens).toEqual(['session', 'session'])
  expect([lines, counts()]).toEqual([[], { ok: 1 }])
})

test('what is refused is not repeated, and an upload sends no bytes then', async () => {
  let [requests, opened] = [0, 0]
  const refuse: RequestListener = (_request, response) => {
    requests++
    response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
  }
  const { store } = await serve(refuse, refuse)
  await expect(store.delete('p/a')).rejects.toMatchObject({ message: '403 AccessDenied' })
  expect(requests).toBe(1)
  const content = contentOf(randomBytes(100_000))
  const counted = () => {
    opened++
    return content.open()
  }
  await expect(store.put('p/a', { ...content, open: counted })).rejects.toMatchObject({ message: '403 AccessDenied' })
  expect([requests, opened]).toEqual([2, 0])
})

test('a store that stops responding is unavailable after a limit, and a slow consumer is no failure', async () => {
  const respond: RequestListener = (request, response) => {
    if (request.url?.endsWith('silent')) return
    response.writeHead(206, { 'content-range': 'bytes 0-999999/1000000', 'content-length': 1_000_000 })
    response.write(Buffer.alloc(300_000))
    if (request.url?.endsWith('slow')) response.end(Buffer.alloc(700_000))
  }
  const { store } = await serve(respond, undefined, { silenceMs })
  await expect(store.delete('p/silent')).rejects.toMatchObject({ message: expect.stringContaining('no response') })
  const stalled = await store.get('p/stalls', { first: 0, last: 999_999 })
  let taken = 0
  await expect(async () => {
    for await (const piece of stalled) taken += piece.length
  }).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('no bytes') })
  expect(taken).toBe(300_000)
  taken = 0
  for await (const piece of await store.get('p/slow', { first: 0, last: 999_999 })) {
    if (taken === 0) await sleep(silenceMs * 3)
    taken += piece.length
  }
  expect(taken).toBe(1_000_000)
})

test('an error of what is written is not an error of the store', async () => {
  const { store, lines } = openServer()
  const content = contentOf(Buffer.alloc(100_000))
  async function* fails() {
    yield Buffer.alloc(1000)
    throw new Error('the database is away')
  }
  await expect(store.put('files/a', { ...content, open: fails })).rejects.toThrow('the database is away')
  expect([store.isDown, lines]).toEqual([false, []])
})

test('a response with other bytes than the requested ones is refused', async () => {
  const { store } = await serve((request, response) => {
    if (request.url?.endsWith('whole')) response.writeHead(200).end(Buffer.alloc(100))
    else
      response
        .writeHead(206, { 'content-range': 'bytes 0-9/100' })
        .end(Buffer.alloc(request.url?.endsWith('short') ? 5 : 10))
  })
  await expect(read(store, 'p/whole', 10, 19)).rejects.toThrow('it does not serve ranges')
  await expect(read(store, 'p/other', 10, 19)).rejects.toThrow('it does not serve ranges')
  await expect(read(store, 'p/short', 0, 9)).rejects.toThrow('an object ended 5 bytes early')
  expect(await read(store, 'p/whole', 0, 9)).toHaveLength(10)
})
