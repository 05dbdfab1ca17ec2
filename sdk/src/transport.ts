/** What went wrong, as the service told it. */
export class ParleyError extends Error {
  override readonly name = 'ParleyError'
  readonly status: number
  /** Stable; branch on this. */
  readonly code: string
  readonly type: string
  readonly requestId: string | null
  readonly param: string | null
  readonly errors: readonly { param: string; code: string; message: string }[]
  readonly details: Readonly<Record<string, unknown>>

  constructor(status: number, body: unknown, requestId: string | null) {
    const error = (body as { error?: Record<string, unknown> } | null)?.error ?? {}
    super(typeof error.message === 'string' ? error.message : `The service answered ${status}.`)
    this.status = status
    this.code = typeof error.code === 'string' ? error.code : 'unknown'
    this.type = typeof error.type === 'string' ? error.type : 'unknown'
    this.requestId = requestId
    this.param = typeof error.param === 'string' ? error.param : null
    this.errors = Array.isArray(error.errors) ? error.errors : []
    this.details = (error.details ?? {}) as Record<string, unknown>
  }
}

export interface TransportOptions {
  key: string
  baseUrl: string
  fetch?: typeof globalThis.fetch
}

export interface Transport {
  get<Answer>(path: string, query?: Record<string, string | number | undefined>): Promise<Answer>
  post<Answer>(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
}

export function newTransport({ key, baseUrl, fetch = globalThis.fetch }: TransportOptions): Transport {
  const base = baseUrl.replace(/\/+$/, '')
  async function call<Answer>(path: string, init: RequestInit & { headers?: Record<string, string> }): Promise<Answer> {
    const answer = await fetch(base + path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } })
    const body: unknown = await answer.json().catch(() => null)
    if (!answer.ok) throw new ParleyError(answer.status, body, answer.headers.get('x-request-id'))
    return body as Answer
  }
  return {
    get<Answer>(path: string, query: Record<string, string | number | undefined> = {}): Promise<Answer> {
      const given = Object.entries(query).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, String(value)]],
      )
      return call<Answer>(given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path, {})
    },
    post: <Answer>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
      call<Answer>(path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  }
}
