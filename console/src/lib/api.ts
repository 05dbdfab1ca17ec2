import type { FieldError } from '@parley/contract/field-errors'
import { setClock } from './clock.ts'

/**
 * Requests to the console's API. An error response is thrown as an ApiError. When a request needs a recent confirmation
 * of the person's identity, the shell prompts for it and the request is repeated.
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

/** The JSON response of `GET /console/api/<path>`. */
export const api = <Data>(path: string, read: Read = {}): Promise<Data> =>
  confirming(async () => jsonOf<Data>(await request('GET', path, read)))

/** The same for a response that is a file. */
export const apiFile = (path: string, read: Read = {}): Promise<Blob> =>
  confirming(async () => {
    const response = await request('GET', path, read)
    if (!response.ok) throw errorOf(response, await response.json().catch(() => undefined))
    return response.blob()
  })

/** The same for a request whose input must not be in a URL, because URLs are logged by proxies. */
export const apiByPost = <Data>(path: string, body: object): Promise<Data> =>
  confirming(async () => jsonOf<Data>(await request('POST', path, { body })))

/** Sends a request that changes data. Only `useAction` calls it; pages receive it from there. */
export const send: Send = <Data>(method: Method, path: string, body: object = {}) =>
  confirming(async () => jsonOf<Data>(await request(method, path, { body })))

export type Send = <Data>(method: Method, path: string, body?: object) => Promise<Data>
type Method = 'POST' | 'PUT' | 'PATCH' | 'DELETE'

async function confirming<Data>(run: () => Promise<Data>): Promise<Data> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'confirmation_required') throw error
    if (!(await askOnce())) throw new ApiError(error.status, error.code, notConfirmed, error)
    return run()
  }
}

const notConfirmed = 'Nothing was changed, because you did not confirm your identity.'
let openPrompt: Promise<boolean> | null = null

/** Concurrent requests that need a confirmation share one prompt. */
function askOnce(): Promise<boolean> {
  openPrompt ??= askToConfirm().finally(() => {
    openPrompt = null
  })
  return openPrompt
}

/** Builds an API path inside a workspace, and reads the workspace from one. */
export const inWorkspace = (workspace: string, path: string) => `w/${encodeURIComponent(workspace)}/${path}`
export const workspaceOf = (path: string) => decodeURIComponent(/^w\/([^/]+)\//.exec(path)?.[1] ?? '')

/** Registers the shell's prompt. It resolves to whether the person confirmed. */
export function confirmWith(ask: () => Promise<boolean>): void {
  askToConfirm = ask
}

export const isSignedOut = (error: unknown) => error instanceof ApiError && error.code === 'not_signed_in'

/** The message of an error for people. */
export function errorMessage(error: unknown): string {
  return error instanceof Error && error.message ? error.message : 'Something went wrong. Try again.'
}

export const serviceResponds = (): Promise<boolean> =>
  fetch('/healthz', { cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

let askToConfirm: () => Promise<boolean> = async () => false

/** Undefined for a 204. */
async function jsonOf<Data>(response: Response): Promise<Data> {
  if (response.status === 204) return undefined as Data
  const json: unknown = await response.json().catch(() => undefined)
  if (response.ok && json !== undefined) return json as Data
  throw errorOf(response, json)
}

async function request(
  method: Method | 'GET',
  path: string,
  { query = {}, signal, body }: Read & { body?: object },
): Promise<Response> {
  try {
    const response = await fetch(`/console/api/${path}${queryString(query)}`, {
      method,
      headers: { Accept: 'application/json', ...(body ? { 'Content-Type': 'application/json' } : {}) },
      body: body ? JSON.stringify(body) : null,
      credentials: 'same-origin',
      ...(signal ? { signal } : {}),
    })
    setClock(response.headers.get('X-Service-Time'))
    return response
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, 'out_of_reach', 'Parley cannot be reached. Check your connection and try again.')
  }
}

function errorOf(response: Response, json: unknown): ApiError {
  const error = (json as { error?: Record<string, unknown> } | undefined)?.error
  const requestId = (error?.request_id as string | undefined) ?? response.headers.get('X-Request-Id')
  if (!error) {
    return new ApiError(
      response.status,
      'unreadable',
      `Parley sent an invalid response (status ${response.status}). Try again.`,
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
