import { createHash } from 'node:crypto'
import { type Readable, Transform } from 'node:stream'
import type { Dispatcher } from 'undici'
import { readId, readNumber } from '../read-json.ts'
import { type CallLimits, type CallOutcome, headersOf, httpError, RequestTracker } from './call.ts'
import { sha256Hex } from './sha256.ts'

/** A file as a stream. The caller must read it to the end or destroy it. */
export interface Download {
  mimeType: string | null
  size: number | null
  body: Readable
}

const fileHosts = ['.fbsbx.com', '.fbcdn.net', '.whatsapp.net']

/** Whether the token may be sent to this URL: the Graph API's host, or one of WhatsApp's file hosts. */
export function isFileAddress(url: string, graphUrl: string): boolean {
  if (!URL.canParse(url) || !URL.canParse(graphUrl)) return false
  const file = new URL(url)
  if (file.username !== '' || file.password !== '') return false
  if (file.origin === new URL(graphUrl).origin) return true
  return file.protocol === 'https:' && file.port === '' && fileHosts.some((suffix) => file.hostname.endsWith(suffix))
}

/** Redirects are not followed, because the token must not be sent to another host. */
export async function downloadFrom(
  agent: () => Dispatcher,
  access: { graphUrl: string; accessToken: string | null },
  url: string,
  limits: CallLimits,
): Promise<CallOutcome<Download>> {
  if (!isFileAddress(url, access.graphUrl)) return { kind: 'unreachable', why: 'foreign_file_host' }
  const address = new URL(url)
  const tracker = new RequestTracker()
  try {
    const response = await agent()
      .compose(tracker.interceptor)
      .request({
        origin: address.origin,
        path: `${address.pathname}${address.search}`,
        method: 'GET',
        headers: { ...headersOf(access, limits), accept: '*/*' },
      })
    const { statusCode: status } = response
    if (status !== 200) {
      response.body.on('error', () => {}).destroy()
      return { kind: 'refused', status, error: httpError(status), isTransient: status >= 500, retryAfterMs: null }
    }
    const mimeType = readId(response.headers['content-type'])
    const size = readNumber(response.headers['content-length'])
    return { kind: 'ok', value: { mimeType, size, body: response.body } }
  } catch (error) {
    return tracker.failure(error)
  }
}

export class BadFile extends Error {
  override readonly name = 'BadFile'
  readonly why: 'too_large' | 'wrong_hash'

  constructor(why: 'too_large' | 'wrong_hash') {
    super(why === 'too_large' ? 'The file is larger than allowed.' : 'The hash of the file is wrong.')
    this.why = why
  }
}

/** Passes the bytes through. Fails if the file is too large, or at the end if its hash is not the expected one. */
export function checkFile(expected: { sha256: string | null; maxBytes: number }): Transform {
  const expectedHash = sha256Hex(expected.sha256)
  const hash = createHash('sha256')
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.length
      if (size > expected.maxBytes) return done(new BadFile('too_large'))
      hash.update(chunk)
      done(null, chunk)
    },
    flush(done) {
      done(expectedHash !== null && hash.digest('hex') !== expectedHash ? new BadFile('wrong_hash') : null)
    },
  })
}
