/**
 * One HTTP request to the Graph API. The outcome is a value, not an exception. It tells whether the request was sent,
 * which decides whether a message can be retried:
 *
 *   ok           the request succeeded
 *   refused      the API returned an error
 *   unreachable  nothing was sent: unknown host, refused connection, failed TLS handshake
 *   unknown      the request was sent, but the response is missing or unreadable: it may have succeeded
 */
import { Readable } from 'node:stream'
import type { MessageError } from '@parley/contract/events'
import type { Dispatcher } from 'undici'
import { GrowingBuffer } from '../../lib/growing-buffer.ts'
import { type JsonObject, readNumber, readObject } from '../read-json.ts'
import { readNetworkError } from './network-error.ts'

export type CallOutcome<T> = { kind: 'ok'; value: T } | CallFailure

export type CallFailure =
  | {
      kind: 'refused'
      status: number
      error: MessageError
      /** WhatsApp's `error_subcode`. Only Graph-level errors have one. */
      subcode?: number | null
      isTransient: boolean
      retryAfterMs: number | null
    }
  | { kind: 'unreachable'; why: string }
  | { kind: 'unknown'; why: string; status: number | null }

export interface Call {
  method: 'GET' | 'POST' | 'DELETE'
  url: URL
  accessToken: string
  body?: JsonObject
  /** In place of `body`. */
  stream?: BodyStream
  /** In place of the usual deadline. */
  deadlineMs?: number
  signal?: AbortSignal
}

/** A body that is read while it is sent. */
export interface BodyStream {
  contentType: string
  length: number
  open(): AsyncIterable<Buffer>
}

export interface CallLimits {
  userAgent: string
  /** From the start of the request to the last byte of the response. */
  deadlineMs: number
  maxResponseBytes: number
}

/** `agent` opens the client. If it fails, nothing was sent. */
export async function callGraph(
  agent: () => Dispatcher,
  call: Call,
  limits: CallLimits,
): Promise<CallOutcome<JsonObject>> {
  const tracker = new RequestTracker()
  let response: Dispatcher.ResponseData
  try {
    response = await agent()
      .compose(tracker.interceptor)
      .request({
        origin: call.url.origin,
        path: `${call.url.pathname}${call.url.search}`,
        method: call.method,
        headers: headersOf(call, limits),
        body: bodyOf(call),
        signal: signalOf(call, limits),
      })
  } catch (error) {
    return tracker.failure(error)
  }
  try {
    const bytes = await readBounded(response.body, limits.maxResponseBytes)
    return classifyResponse(response.statusCode, response.headers, parse(bytes), 'response_unreadable')
  } catch (error) {
    return classifyResponse(response.statusCode, response.headers, null, reasonOf(error))
  }
}

/** Reads a body of at most `maxBytes`. */
async function readBounded(body: Readable, maxBytes: number): Promise<Buffer> {
  const buffer = new GrowingBuffer(maxBytes)
  for await (const chunk of body) {
    if (buffer.size + chunk.length > maxBytes) {
      body.destroy()
      throw Object.assign(new Error(`The response is larger than ${maxBytes} bytes.`), { code: 'response_too_large' })
    }
    buffer.append(chunk)
  }
  return buffer.bytes
}

function bodyOf({ body, stream }: Call): string | Readable | null {
  if (stream) return Readable.from(stream.open(), { objectMode: false })
  return body === undefined ? null : JSON.stringify(body)
}

function signalOf({ signal, deadlineMs }: Call, limits: CallLimits): AbortSignal {
  const deadline = AbortSignal.timeout(deadlineMs ?? limits.deadlineMs)
  return signal ? AbortSignal.any([signal, deadline]) : deadline
}

/** Tracks whether a request was started: undici reports it once it has a connection to write to. */
export class RequestTracker {
  isStarted = false

  readonly interceptor = (dispatch: Dispatcher.Dispatch): Dispatcher.Dispatch => {
    return (options, handler) => {
      const start = handler.onRequestStart?.bind(handler)
      handler.onRequestStart = (controller, context) => {
        this.isStarted = true
        start?.(controller, context)
      }
      return dispatch(options, handler)
    }
  }

  /** The outcome of a request that got no response. */
  failure(error: unknown): CallFailure {
    const why = reasonOf(error)
    return this.isStarted ? { kind: 'unknown', why, status: null } : { kind: 'unreachable', why }
  }
}

export function headersOf(
  call: { accessToken: string | null; body?: unknown; stream?: BodyStream },
  limits: { userAgent: string },
) {
  return {
    ...(call.accessToken !== null && { authorization: `Bearer ${call.accessToken}` }),
    'user-agent': limits.userAgent,
    accept: 'application/json',
    'accept-encoding': 'identity',
    ...(call.body !== undefined && { 'content-type': 'application/json' }),
    ...(call.stream && { 'content-type': call.stream.contentType, 'content-length': String(call.stream.length) }),
  }
}

/** A short, stable name for an error: its code if it has one. */
function reasonOf(error: unknown): string {
  const { code, name, cause } = (readObject(error) ?? {}) as { code?: unknown; name?: unknown; cause?: unknown }
  if (name === 'TimeoutError') return 'timeout'
  if (typeof code === 'string' && code !== '') return code
  if (cause !== undefined && cause !== error) return reasonOf(cause)
  return typeof name === 'string' ? name : 'error'
}

function classifyResponse(
  status: number,
  headers: Headers,
  json: JsonObject | null,
  whyNoJson: string,
): CallOutcome<JsonObject> {
  const error = readObject(json?.error)
  if (error !== null) {
    return {
      kind: 'refused',
      status,
      error: readNetworkError(error) ?? httpError(status),
      subcode: readNumber(error.error_subcode),
      isTransient: error.is_transient === true,
      retryAfterMs: retryAfterMs(headers),
    }
  }
  if (status >= 200 && status < 300) {
    return json === null ? { kind: 'unknown', why: whyNoJson, status } : { kind: 'ok', value: json }
  }
  // A gateway may have timed out; the server behind it may have processed the request.
  if (status >= 500 || status === 408) return { kind: 'unknown', why: `http_${status}`, status }
  const isTransient = status === 429
  return { kind: 'refused', status, error: httpError(status), isTransient, retryAfterMs: retryAfterMs(headers) }
}

export function httpError(status: number): MessageError {
  const message = `WhatsApp responded with HTTP ${status} and no error message.`
  return { code: `http_${status}`, title: `HTTP ${status}`, message, details: null }
}

type Headers = Record<string, string | string[] | undefined>

/** A proxy may ask for any time. WhatsApp's rate limits are those of an hour. */
const retryAfterMaxMs = 3_600_000

function retryAfterMs(headers: Headers): number | null {
  const seconds = readNumber(headers['retry-after']) ?? 0
  const wait = Math.max(seconds * 1000, regainMinutes(headers['x-business-use-case-usage']) * 60_000)
  return wait > 0 ? Math.min(retryAfterMaxMs, wait) : null
}

/** The usage header has, per business, the number of minutes until requests are allowed again. */
function regainMinutes(header: string | string[] | undefined): number {
  if (typeof header !== 'string') return 0
  const usage = parse(Buffer.from(header))
  const minutes = Object.values(usage ?? {})
    .flat()
    .map((item) => readNumber(readObject(item)?.estimated_time_to_regain_access) ?? 0)
  return Math.max(0, ...minutes)
}

function parse(bytes: Buffer): JsonObject | null {
  try {
    return readObject(JSON.parse(bytes.toString('utf8')))
  } catch {
    return null
  }
}
