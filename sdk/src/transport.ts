import { errorOfAnswer, ParleyError, retryAfterOf } from './error.ts'
import { pause, type RetryRules, waitBeforeRetry } from './retry.ts'
import { readBaseUrl, readKey } from './settings.ts'
import { version } from './version.ts'

export interface TransportOptions {
  /** An API key, `prl_live_…`. */
  key: string
  /** Where the service is, without `/v1`. */
  baseUrl: string
  /** How long one try may take. 30 seconds if left out. */
  timeoutMs?: number | undefined
  /** How often a call is tried again. Twice if left out. */
  maxRetries?: number | undefined
  /** A call that is asked to wait for longer fails at once. 65 seconds if left out: a budget is whole again after 60. */
  maxWaitMs?: number | undefined
  /** In the place of the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
}

/** What every call takes. */
export interface CallOptions {
  /** Ends the call, its waits and its retries included. */
  signal?: AbortSignal | undefined
  /** How long one try of this call may take. */
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
}

export type Query = Record<string, string | number | Date | undefined>

export interface Transport {
  get<Answer>(path: string, query?: Query, options?: CallOptions): Promise<Answer>
  /** The answer with its body unread. */
  open(path: string, options?: CallOptions): Promise<Response>
  /** Without an idempotency key it is tried once. */
  post<Answer>(path: string, body: unknown, idempotencyKey: string | null, options?: CallOptions): Promise<Answer>
}

interface Call {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  idempotencyKey: string | null
}

export function newTransport(options: TransportOptions): Transport {
  const base = readBaseUrl(options.baseUrl)
  const headers = { authorization: `Bearer ${readKey(options.key)}`, 'user-agent': userAgent() }
  // Called through a closure: some runtimes refuse a fetch whose `this` is another object.
  const send: typeof globalThis.fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const maxWaitMs = options.maxWaitMs ?? 65_000

  async function perform<Found>(call: Call, given: CallOptions, read: Reader<Found>): Promise<Found> {
    const { signal } = given
    const timeoutMs = given.timeoutMs ?? options.timeoutMs ?? 30_000
    const mayRepeat = call.method === 'GET' || call.idempotencyKey !== null
    const maxRetries = mayRepeat ? (given.maxRetries ?? options.maxRetries ?? 2) : 0
    const rules: RetryRules = { maxRetries, maxWaitMs }
    for (let made = 1; ; made++) {
      try {
        return await tryOnce(send, call, read, timeoutMs, signal)
      } catch (error) {
        if (signal?.aborted) throw signal.reason
        const wait = waitBeforeRetry(error, made, rules)
        if (wait === null) throw error
        await pause(wait, signal)
      }
    }
  }

  const reading = (path: string, query: Query = {}): Call => {
    const url = base + path + queryText(query)
    return { url, method: 'GET', headers, idempotencyKey: null }
  }
  return {
    get: <Answer>(path: string, query?: Query, given: CallOptions = {}) =>
      perform<Answer>(reading(path, query), given, readJson),
    open: (path, given = {}) => perform(reading(path), given, async (response) => response),
    post<Answer>(path: string, content: unknown, idempotencyKey: string | null, given: CallOptions = {}) {
      const key = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }
      const posting = { ...headers, ...key, 'content-type': 'application/json' }
      const call = { url: base + path, method: 'POST', headers: posting, body: JSON.stringify(content) } as const
      return perform<Answer>({ ...call, idempotencyKey }, given, readJson)
    },
  }
}

/** Makes what the caller wants of an answer that is 2xx. */
type Reader<Found> = (response: Response, call: Call) => Promise<Found>

async function tryOnce<Found>(
  send: typeof globalThis.fetch,
  call: Call,
  read: Reader<Found>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Found> {
  signal?.throwIfAborted()
  const { url, method, headers, body, idempotencyKey } = call
  const deadline = new AbortController()
  let late = false
  const expire = () => {
    late = true
    deadline.abort()
  }
  // A timer that is set for longer than it can count goes off at once.
  const timer = setTimeout(expire, Math.min(timeoutMs, 2 ** 31 - 1))
  try {
    const init = {
      method,
      headers,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal,
    } as const
    const response = await send(url, body === undefined ? init : { ...init, body })
    if (response.ok) return await read(response, call)
    throw errorOfAnswer(response, await response.text(), idempotencyKey) ?? unexpected(response, call)
  } catch (error) {
    if (error instanceof ParleyError || signal?.aborted) throw error
    const { origin } = new URL(url)
    const message = late
      ? `${origin} did not answer within ${timeoutMs} ms.`
      : `${origin} cannot be reached: ${reasonOf(error)}. Is baseUrl right, and the service running?`
    throw new ParleyError(message, { code: late ? 'timeout' : 'connection_failed', idempotencyKey, cause: error })
  } finally {
    clearTimeout(timer)
  }
}

async function readJson<Answer>(response: Response, call: Call): Promise<Answer> {
  const text = await response.text()
  try {
    return JSON.parse(text) as Answer
  } catch {
    throw unexpected(response, call)
  }
}

function unexpected(response: Response, { url, idempotencyKey }: Call): ParleyError {
  const { status, headers } = response
  const location = headers.get('location')
  const kind = headers.get('content-type')?.split(';')[0] ?? 'no content type'
  const message = location
    ? `${url} answered ${status} and points to ${location}. Give the address it points to as baseUrl.`
    : `${url} answered ${status} with ${kind}, which is not an answer of the service. Is baseUrl right?`
  const requestId = headers.get('x-request-id')
  return new ParleyError(message, {
    code: 'unexpected_answer',
    status,
    requestId,
    retryAfter: retryAfterOf(response),
    idempotencyKey,
  })
}

/** Runtimes hide what went wrong in the cause of a "fetch failed". */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: unknown; message?: unknown }; message?: unknown }
  return String(cause?.code ?? cause?.message ?? message ?? error)
}

function queryText(query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined) return []
    return [[name, value instanceof Date ? value.toISOString() : String(value)]]
  })
  return given.length > 0 ? `?${new URLSearchParams(given)}` : ''
}

/** The runtime names itself where it can: Node 21 and later, Deno, Bun, workers. */
function userAgent(): string {
  const { navigator } = globalThis as { navigator?: { userAgent?: unknown } }
  const runtime = typeof navigator?.userAgent === 'string' ? ` ${navigator.userAgent}` : ''
  return `parley-sdk/${version}${runtime}`
}
