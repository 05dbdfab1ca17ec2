import type { Fault } from '@parley/contract/field-errors'

/**
 * Calls to the console's own API. A refusal is thrown as an ApiError. When the service wants the person to show again who
 * they are, the shell asks them, and the call is made a second time.
 */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  readonly param: string | null
  readonly errors: readonly Fault[]
  readonly details: Readonly<Record<string, unknown>>

  constructor(status: number, code: string, message: string, more: Partial<Omit<ApiError, 'name'>> = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = code
    this.requestId = more.requestId ?? null
    this.param = more.param ?? null
    this.errors = more.errors ?? []
    this.details = more.details ?? {}
  }

  /** What is wrong with one field of what was sent, if the service named it. */
  faultOf(param: string): string | undefined {
    return (
      this.errors.find((fault) => fault.param === param)?.message ?? (this.param === param ? this.message : undefined)
    )
  }
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  body?: unknown
  query?: Query
  signal?: AbortSignal
  headers?: Readonly<Record<string, string>>
}

/** Asks `/console/api/<path>` and answers its JSON; of a 204, undefined. */
export const api = <Answer>(path: string, call: Call = {}): Promise<Answer> =>
  confirming(() => callOnce<Answer>(path, call))

/** The same, for an answer that is a file. */
export const apiFile = (path: string, call: Call = {}): Promise<Blob> =>
  confirming(async () => {
    const answer = await ask(path, call)
    if (!answer.ok) throw errorOf(answer, await answer.json().catch(() => undefined))
    return answer.blob()
  })

async function confirming<Answer>(run: () => Promise<Answer>): Promise<Answer> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'confirmation_required') throw error
    if (!(await askOnce())) throw new ApiError(error.status, error.code, notConfirmed, error)
    return run()
  }
}

const notConfirmed = 'Nothing was changed, because you did not confirm that it is you.'
let asking: Promise<boolean> | null = null

/** Requests that need a confirmation at the same time wait for the same prompt. */
function askOnce(): Promise<boolean> {
  asking ??= askToConfirm().finally(() => {
    asking = null
  })
  return asking
}

/** The path of something in a workspace, for `api`. */
export const inWorkspace = (workspace: string, path: string) => `w/${encodeURIComponent(workspace)}/${path}`

/** The address of a GET answer that the browser itself fetches, as a download does. */
export const apiUrl = (path: string, query: Query = {}) => `/console/api/${path}${queryString(query)}`

/** The shell says how a person is asked to confirm; it answers whether they did. */
export function confirmWith(ask: () => Promise<boolean>): void {
  askToConfirm = ask
}

/** What to tell a person about any error. */
export function wordsOf(error: unknown): string {
  return error instanceof Error && error.message ? error.message : 'Something went wrong.'
}

let askToConfirm: () => Promise<boolean> = async () => false

async function callOnce<Answer>(path: string, call: Call): Promise<Answer> {
  const answer = await ask(path, call)
  if (answer.status === 204) return undefined as Answer
  const json: unknown = await answer.json().catch(() => undefined)
  if (answer.ok && json !== undefined) return json as Answer
  throw errorOf(answer, json)
}

async function ask(path: string, { method = 'GET', body, query = {}, signal, headers }: Call): Promise<Response> {
  // A body that is not there is sent as {}: the service takes JSON only, so that no foreign form can post to it.
  const sent = method === 'GET' ? null : JSON.stringify(body ?? {})
  try {
    return await fetch(apiUrl(path, query), {
      method,
      headers: {
        Accept: 'application/json',
        ...(sent === null ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: sent,
      credentials: 'same-origin',
      ...(signal ? { signal } : {}),
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'out_of_reach', 'The service could not be reached. Check your connection and try again.')
  }
}

function errorOf(answer: Response, json: unknown): ApiError {
  const error = (json as { error?: Record<string, unknown> } | undefined)?.error
  const requestId = (error?.request_id as string | undefined) ?? answer.headers.get('X-Request-Id')
  if (!error) {
    return new ApiError(
      answer.status,
      'unreadable',
      `The service gave an answer that cannot be read (${answer.status}).`,
      {
        requestId,
      },
    )
  }
  return new ApiError(answer.status, String(error.code), String(error.message), {
    requestId,
    param: (error.param as string | undefined) ?? null,
    errors: (error.errors as Fault[] | undefined) ?? [],
    details: (error.details as Record<string, unknown> | undefined) ?? {},
  })
}

function queryString(query: Query): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === '') continue
    for (const each of Array.isArray(value) ? value : [value]) params.append(name, String(each))
  }
  const text = params.toString()
  return text && `?${text}`
}
