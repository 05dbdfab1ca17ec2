import { errorOfResponse, ParleyError, retryAfterOf } from './error.ts'
import { longestTimerMs, pause, type RetryRules, waitBeforeRetry } from './retry.ts'
import { readBaseUrl, readKey } from './settings.ts'
import { version } from './version.ts'

export interface TransportOptions {
  /** An API key, `prl_live_…`. */
  key: string
  /** The URL of the Parley installation, without `/v1`. */
  baseUrl: string
  /** The timeout of one attempt. Default: 30 seconds. */
  timeoutMs?: number | undefined
  /** How often a request is retried. Default: 2. */
  maxRetries?: number | undefined
  /** If `Retry-After` is longer, the request fails immediately. Default: 65 seconds, because a rate limit resets within 60. */
  maxWaitMs?: number | undefined
  /** Used instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch | undefined
}

/** Options of every method. */
export interface CallOptions {
  /** Aborts the call, including its waits and retries. */
  signal?: AbortSignal | undefined
  /** The timeout of one attempt. */
  timeoutMs?: number | undefined
  maxRetries?: number | undefined
}

export type Query = Record<string, string | number | Date | readonly string[] | undefined>

export interface Transport {
  get<Data>(path: string, query?: Query, options?: CallOptions): Promise<Data>
  /** The response with its body unread. */
  open(path: string, options?: CallOptions): Promise<Response>
  /** Without an idempotency key there is only one attempt. */
  post<Data>(path: string, body: unknown, idempotencyKey: string | null, options?: CallOptions): Promise<Data>
  /** There is only one attempt. */
  postForm<Data>(path: string, form: FormData, options?: CallOptions): Promise<Data>
}

interface Call {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string | FormData
  idempotencyKey: string | null
}

export function newTransport(options: TransportOptions): Transport {
  const base = readBaseUrl(options.baseUrl)
  const headers = { authorization: `Bearer ${readKey(options.key)}`, 'user-agent': userAgent() }
  // Called through a closure: in some runtimes, fetch throws if `this` is another object.
  const send: typeof globalThis.fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init))
  const maxWaitMs = options.maxWaitMs ?? 65_000

  async function perform<Result>(call: Call, callOptions: CallOptions, read: Reader<Result>): Promise<Result> {
    const { signal } = callOptions
    const timeoutMs = callOptions.timeoutMs ?? options.timeoutMs ?? 30_000
    const isIdempotent = call.method === 'GET' || call.idempotencyKey !== null
    const maxRetries = isIdempotent ? (callOptions.maxRetries ?? options.maxRetries ?? 2) : 0
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
    get: <Data>(path: string, query?: Query, callOptions: CallOptions = {}) =>
      perform<Data>(reading(path, query), callOptions, readJson),
    open: (path, callOptions = {}) => perform(reading(path), callOptions, async (response) => response),
    post<Data>(path: string, content: unknown, idempotencyKey: string | null, callOptions: CallOptions = {}) {
      const key = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }
      const posting = { ...headers, ...key, 'content-type': 'application/json' }
      const call = { url: base + path, method: 'POST', headers: posting, body: JSON.stringify(content) } as const
      return perform<Data>({ ...call, idempotencyKey }, callOptions, readJson)
    },
    postForm: <Data>(path: string, form: FormData, callOptions: CallOptions = {}) =>
      perform<Data>(
        { url: base + path, method: 'POST', headers, body: form, idempotencyKey: null },
        callOptions,
        readJson,
      ),
  }
}

/** Reads the result from a 2xx response. */
type Reader<Result> = (response: Response, call: Call) => Promise<Result>

async function tryOnce<Result>(
  send: typeof globalThis.fetch,
  call: Call,
  read: Reader<Result>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Result> {
  signal?.throwIfAborted()
  const { url, method, headers, body, idempotencyKey } = call
  const deadline = new AbortController()
  let isTimedOut = false
  const expire = () => {
    isTimedOut = true
    deadline.abort()
  }
  const timer = setTimeout(expire, Math.min(timeoutMs, longestTimerMs))
  try {
    const init = {
      method,
      headers,
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, deadline.signal]) : deadline.signal,
    } as const
    const response = await send(url, body === undefined ? init : { ...init, body })
    if (response.ok) return await read(response, call)
    throw errorOfResponse(response, await response.text(), idempotencyKey) ?? unexpected(response, call)
  } catch (error) {
    if (error instanceof ParleyError || signal?.aborted) throw error
    const { origin } = new URL(url)
    const message = isTimedOut
      ? `${origin} did not respond within ${timeoutMs} ms.`
      : `${origin} cannot be reached: ${reasonOf(error)}. Check that baseUrl is correct and that Parley is running.`
    throw new ParleyError(message, { code: isTimedOut ? 'timeout' : 'connection_failed', idempotencyKey, cause: error })
  } finally {
    clearTimeout(timer)
  }
}

async function readJson<Data>(response: Response, call: Call): Promise<Data> {
  // The caller expects nothing then.
  if (response.status === 204) return undefined as Data
  const text = await response.text()
  try {
    return JSON.parse(text) as Data
  } catch {
    throw unexpected(response, call)
  }
}

function unexpected(response: Response, { url, idempotencyKey }: Call): ParleyError {
  const { status, headers } = response
  const location = headers.get('location')
  const kind = headers.get('content-type')?.split(';')[0] ?? 'no content type'
  const message = location
    ? `${url} returned ${status} and redirects to ${location}. Use that address as baseUrl.`
    : `${url} returned ${status} with ${kind}, which is not a response of Parley. Check baseUrl.`
  const requestId = headers.get('x-request-id')
  return new ParleyError(message, {
    code: 'unexpected_response',
    status,
    requestId,
    retryAfter: retryAfterOf(response),
    idempotencyKey,
  })
}

/** Runtimes put the reason into the cause of a "fetch failed" error. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: unknown; message?: unknown }; message?: unknown }
  return String(cause?.code ?? cause?.message ?? message ?? error)
}

function queryText(query: Query): string {
  const params = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined) return []
    if (Array.isArray(value)) return value.map((each: string) => [name, each])
    return [[name, value instanceof Date ? value.toISOString() : String(value)]]
  })
  return params.length > 0 ? `?${new URLSearchParams(params)}` : ''
}

/** Includes the runtime if it is known: Node 21 and later, Deno, Bun, workers. */
function userAgent(): string {
  const { navigator } = globalThis as { navigator?: { userAgent?: unknown } }
  const runtime = typeof navigator?.userAgent === 'string' ? ` ${navigator.userAgent}` : ''
  return `parley-sdk/${version}${runtime}`
}
