import type { FieldError } from '@parley/contract/field-errors'

/**
 * Requests to the console's own API. An error response is thrown as an ApiError. When the service wants the person to
 * confirm who they are, the shell asks them, and the request is made a second time.
 */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | null
  readonly param: string | null
  readonly errors: readonly FieldError[]
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
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>

interface Read {
  query?: Query
  signal?: AbortSignal
}

/** The JSON of `GET /console/api/<path>`. */
export const api = <Answer>(path: string, read: Read = {}): Promise<Answer> =>
  confirming(async () => jsonOf<Answer>(await request('GET', path, read)))

/** The same, for a response that is a file. */
export const apiFile = (path: string, read: Read = {}): Promise<Blob> =>
  confirming(async () => {
    const response = await request('GET', path, read)
    if (!response.ok) throw errorOf(response, await response.json().catch(() => undefined))
    return response.blob()
  })

/** Changes something. Only `useAction` calls it: pages get it from there. */
export const send: Send = <Answer>(method: Method, path: string, body: object = {}) =>
  confirming(async () => jsonOf<Answer>(await request(method, path, { body })))

export type Send = <Answer>(method: Method, path: string, body?: object) => Promise<Answer>
export type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

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

/** The path of something in a workspace, and the workspace that a path is in. */
export const inWorkspace = (workspace: string, path: string) => `w/${encodeURIComponent(workspace)}/${path}`
export const workspaceOf = (path: string) => decodeURIComponent(/^w\/([^/]+)\//.exec(path)?.[1] ?? '')

/** The shell says how a person is asked to confirm; it answers whether they did. */
export function confirmWith(ask: () => Promise<boolean>): void {
  askToConfirm = ask
}

export const isSignedOut = (error: unknown) => error instanceof ApiError && error.code === 'not_signed_in'

/** What to tell a person about any error. */
export function wordsOf(error: unknown): string {
  return error instanceof Error && error.message ? error.message : 'Something went wrong.'
}

let askToConfirm: () => Promise<boolean> = async () => false

/** Of a 204, undefined. */
async function jsonOf<Answer>(response: Response): Promise<Answer> {
  if (response.status === 204) return undefined as Answer
  const json: unknown = await response.json().catch(() => undefined)
  if (response.ok && json !== undefined) return json as Answer
  throw errorOf(response, json)
}

async function request(
  method: Method | 'GET',
  path: string,
  { query = {}, signal, body }: Read & { body?: object },
): Promise<Response> {
  try {
    return await fetch(`/console/api/${path}${queryString(query)}`, {
      method,
      headers: { Accept: 'application/json', ...(body ? { 'Content-Type': 'application/json' } : {}) },
      body: body ? JSON.stringify(body) : null,
      credentials: 'same-origin',
      ...(signal ? { signal } : {}),
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'out_of_reach', 'The service could not be reached. Check your connection and try again.')
  }
}

function errorOf(response: Response, json: unknown): ApiError {
  const error = (json as { error?: Record<string, unknown> } | undefined)?.error
  const requestId = (error?.request_id as string | undefined) ?? response.headers.get('X-Request-Id')
  if (!error) {
    return new ApiError(
      response.status,
      'unreadable',
      `The service gave an answer that cannot be read (${response.status}).`,
      {
        requestId,
      },
    )
  }
  return new ApiError(response.status, String(error.code), String(error.message), {
    requestId,
    param: (error.param as string | undefined) ?? null,
    errors: (error.errors as FieldError[] | undefined) ?? [],
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
