import { Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps, Agent as TlsAgent } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ByteRange } from '../lib/byte-range.ts'
import { sha256 } from '../lib/hash.ts'
import { newUuid } from '../lib/ids.ts'
import { load } from '../lib/load.ts'
import { FairShares } from '../sharing/fair-shares.ts'
import type { Counters } from '../telemetry/counters.ts'
import type { Logger } from '../telemetry/logger.ts'
import { type ObjectContent, type ObjectStore, ObjectStoreError } from './object-store.ts'
import type { S3Settings } from './s3-settings.ts'

/** A store that sends and takes nothing for this long is unavailable. A stalled one must not keep a request for longer. */
const defaultSilenceMs = 20_000
/** The waits before a request is repeated. They bridge a restart of one server of the store, not an outage. */
const repeatWaitsMs = [200, 1_000]
/** How long an upload waits for the store's consent before it sends the bytes anyway, as curl does. */
const consentMs = 1_000
/** An outage must not fill the log: one line in this time, with the number of failures since the last one. */
const logEveryMs = 10_000
const errorBytesMax = 16_384

/**
 * Downloads of clients at a time. Each has a connection to the store for as long as its client reads, and these are part of the
 * file descriptors that `http/limits/limits.ts` reserves. One workspace alone has at most half of them.
 */
const maxDownloads = 256

type Operation = 'put' | 'get' | 'delete'

interface S3Request {
  operation: Operation
  key: string
  headers?: Record<string, string>
  body?: () => AsyncIterable<Buffer>
}

/**
 * A bucket in an S3-compatible store. Requests are signed with signature version 4. An object is written with one request,
 * not with a multipart upload, of which parts could be left behind.
 */
export function newS3Store(
  settings: S3Settings,
  log: Logger,
  counters: Counters,
  { silenceMs = defaultSilenceMs } = {},
): ObjectStore {
  const { AwsV4Signer } = load('aws4fetch') as typeof import('aws4fetch')
  const { prefix, takesNew, region, accessKeyId, secretAccessKey, sessionToken } = settings
  const base = baseUrl(settings)
  const isTls = base.startsWith('https:')
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true })
  const signingKeys = new Map<string, ArrayBuffer>()
  const failures = { count: 0, loggedMs: Number.NEGATIVE_INFINITY }
  let isDown = false
  let checking: Promise<void> | null = null

  async function sendOnce({ operation, key, headers = {}, body }: S3Request): Promise<IncomingMessage> {
    const signed = await new AwsV4Signer({
      method: operation.toUpperCase(),
      url: `${base}/${key}`,
      headers,
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== null && { sessionToken }),
      service: 's3',
      region,
      cache: signingKeys,
    }).sign()
    // Keys of earlier days are no longer needed.
    if (signingKeys.size > 2) signingKeys.clear()
    const request = (isTls ? requestHttps : requestHttp)(signed.url, {
      method: signed.method,
      agent,
      headers: Object.fromEntries(signed.headers),
      timeout: silenceMs,
    })
    const sourceErrors: unknown[] = []
    try {
      return await new Promise<IncomingMessage>((resolve, reject) => {
        let hasResponse = false
        request.on('timeout', () => request.destroy(new Error(`no response for ${silenceMs / 1000} seconds`)))
        request.on('error', reject)
        request.on('response', (response) => {
          hasResponse = true
          // From here on, a slow consumer is no failure of the store. `bytesOf` has its own limit.
          request.setTimeout(0)
          resolve(response)
        })
        if (!body) return void request.end()
        request.flushHeaders()
        const consented = new Promise<void>((consent) => request.once('continue', consent))
        Promise.race([consented, sleep(consentMs, undefined, { ref: false })])
          .then(async () => {
            if (hasResponse) return
            const source = noting(body(), (error) => sourceErrors.push(error))
            await pipeline(Readable.from(source, { objectMode: false }), request)
          })
          .catch(reject)
      })
    } catch (error) {
      request.on('error', () => {}).destroy()
      // Only errors of the connection are those of the store.
      if (sourceErrors.length > 0) throw sourceErrors[0]
      throw unavailable(networkError(error), error)
    }
  }

  async function sendRepeatedly(request: S3Request): Promise<IncomingMessage> {
    for (let attempt = 0; ; attempt++) {
      const waitMs = repeatWaitsMs[attempt]
      try {
        const response = await sendOnce(request)
        const status = response.statusCode ?? 0
        if (status >= 200 && status < 300) return response
        const code = await errorCode(response)
        if (waitMs === undefined || (status < 500 && status !== 429)) throw refused(status, code)
      } catch (error) {
        if (waitMs === undefined || !(error instanceof ObjectStoreError) || !isNetworkError(error)) throw error
      }
      await sleep(waitMs)
    }
  }

  async function send(request: S3Request): Promise<IncomingMessage> {
    return noted(request.operation, () => sendRepeatedly(request))
  }

  async function noted<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
    try {
      const result = await work()
      if (isDown) log.info({ event: 'files.store_available', store: name }, 'the file store works again')
      isDown = false
      counters.add('file store requests', 'ok')
      return result
    } catch (error) {
      if (error instanceof ObjectStoreError) noteFailure(operation, error)
      throw error
    }
  }

  function noteFailure(operation: Operation, error: ObjectStoreError): void {
    counters.add('file store requests', error.kind)
    if (error.kind === 'missing') return
    isDown = true
    failures.count++
    if (performance.now() - failures.loggedMs < logEveryMs) return
    const fields = { store: name, operation, error: error.message, count: failures.count }
    log.error({ event: 'files.store_failed', ...fields }, 'the file store failed')
    failures.count = 0
    failures.loggedMs = performance.now()
  }

  async function put(key: string, { size, sha256: hash, open }: ObjectContent): Promise<void> {
    const headers = {
      'content-length': String(size),
      'content-type': 'application/octet-stream',
      'x-amz-content-sha256': hash,
      ...(size > 0 && { expect: '100-continue' }),
    }
    const body = size > 0 ? { body: open } : {}
    drain(await send({ operation: 'put', key, headers, ...body }))
  }

  async function get(key: string, range: ByteRange): Promise<AsyncGenerator<Buffer>> {
    const { first, last } = range
    const response = await send({ operation: 'get', key, headers: { range: `bytes=${first}-${last}` } })
    const start = /^bytes (\d+)-/.exec(response.headers['content-range'] ?? '')?.[1]
    if (response.statusCode === 206 ? Number(start) === first : first === 0) {
      return bytesOf(response, { count: last - first + 1, silenceMs }, (error) => noteFailure('get', error))
    }
    response.destroy()
    throw unavailable('it does not serve ranges')
  }

  async function runCheck(): Promise<void> {
    const key = `${prefix}parley-check`
    const content = Buffer.from('Parley writes and reads this object to check the store.\n')
    const [size, hash] = [content.length, sha256(content).toString('hex')]
    await put(key, { size, sha256: hash, open: () => Readable.from([content]) })
    const pieces: Buffer[] = []
    for await (const piece of await get(key, { first: 0, last: size - 1 })) pieces.push(piece)
    if (!Buffer.concat(pieces).equals(content)) throw unavailable('it returned other bytes than were written')
    await store.delete(`${key}-${newUuid()}`)
  }

  const name = `s3://${settings.bucket}/${prefix} at ${new URL(settings.endpoint).host}`
  const store: ObjectStore = {
    name,
    prefix,
    takesNew,
    downloads: new FairShares(maxDownloads),
    get isDown() {
      return isDown
    },
    put,
    get,
    async delete(key) {
      const request = { operation: 'delete', key } as const
      await send(request).then(drain, (error: unknown) => {
        if (!(error instanceof ObjectStoreError) || error.kind !== 'missing') throw error
      })
    },
    check() {
      // One for all downloads that wait for it.
      checking ??= runCheck().finally(() => {
        checking = null
      })
      return checking
    },
    close: () => agent.destroy(),
  }
  return store
}

function baseUrl({ endpoint, bucket, style }: S3Settings): string {
  if (style === 'path') return `${endpoint}/${bucket}`
  const url = new URL(endpoint)
  return `${url.protocol}//${bucket}.${url.host}${url.pathname.replace(/\/$/, '')}`
}

/** Yields `count` bytes of a response, and fails if it has fewer. */
async function* bytesOf(
  response: IncomingMessage,
  { count, silenceMs }: { count: number; silenceMs: number },
  onFailure: (error: ObjectStoreError) => void,
): AsyncGenerator<Buffer> {
  let left = count
  const pieces = response[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>
  try {
    while (left > 0) {
      const piece = await nextWithin(silenceMs, pieces, response)
      if (!piece) throw unavailable(`an object ended ${left} bytes early`)
      const wanted = piece.subarray(0, left)
      left -= wanted.length
      yield wanted
    }
    // Reads to the end, so that the connection can be used again, unless there is more than was requested.
    if (Number(response.headers['content-length']) === count) await nextWithin(silenceMs, pieces, response)
  } catch (error) {
    const failure = error instanceof ObjectStoreError ? error : unavailable(networkError(error), error)
    onFailure(failure)
    throw failure
  } finally {
    response.destroy()
  }
}

async function nextWithin(
  ms: number,
  pieces: AsyncIterator<Buffer, undefined>,
  response: IncomingMessage,
): Promise<Buffer | undefined> {
  const timer = setTimeout(() => response.destroy(new Error(`no bytes for ${ms / 1000} seconds`)), ms)
  try {
    return (await pieces.next()).value
  } finally {
    clearTimeout(timer)
  }
}

/** Calls `onError` with errors of the source, not with errors that a broken connection throws into this generator. */
async function* noting(source: AsyncIterable<Buffer>, onError: (error: unknown) => void): AsyncGenerator<Buffer> {
  const pieces = source[Symbol.asyncIterator]()
  const next = () =>
    pieces.next().catch((error: unknown) => {
      onError(error)
      throw error
    })
  try {
    for (let piece = await next(); !piece.done; piece = await next()) yield piece.value
  } finally {
    await pieces.return?.()
  }
}

/** Lets the connection be used again. */
function drain(response: IncomingMessage): void {
  response.on('error', () => {}).resume()
}

/** The error code in the XML of a response. The rest of it may repeat the request with its access key. */
async function errorCode(response: IncomingMessage): Promise<string | null> {
  let text = ''
  try {
    for await (const piece of response.setEncoding('latin1')) {
      text += piece
      if (text.length > errorBytesMax) break
    }
  } catch {
    // The status is known.
  }
  // An upload may not have been sent completely, so the connection cannot be used again.
  response.destroy()
  return /<Code>([A-Za-z0-9.]{1,64})<\/Code>/.exec(text)?.[1] ?? null
}

function refused(status: number, code: string | null): ObjectStoreError {
  const kind = status === 404 && code !== 'NoSuchBucket' ? 'missing' : 'unavailable'
  return new ObjectStoreError(kind, [status, code].filter((part) => part !== null).join(' '))
}

const unavailable = (message: string, cause?: unknown): ObjectStoreError =>
  new ObjectStoreError('unavailable', message, cause)

const isNetworkError = (error: ObjectStoreError): boolean => error.cause !== undefined

/** `ECONNREFUSED 127.0.0.1:9000` of an error that has no message because several addresses were tried. */
function networkError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return networkError(error.errors[0])
  const { code, message } = error as NodeJS.ErrnoException
  return message || code || 'the connection failed'
}
