import type { AnyErrorCode } from '@parley/contract/console/errors'
import type { ErrorCode } from '@parley/contract/errors'
import { isScope, type Scope } from '@parley/contract/scopes'
import { type Static, type TSchema, Type } from 'typebox'
import type { Db } from '../db/db.ts'
import type { OnChange } from '../db/notices/change-notices.ts'
import type { Clock } from '../lib/clock.ts'
import { refuse } from '../lib/refuse.ts'
import type { SecretKeys } from '../lib/seal.ts'
import type { Caller } from './access-check.ts'
import type { BytesResponse } from './bytes.ts'
import type { HowEnded, Subscribe } from './limits/held-requests.ts'
import type { FileBody } from './multipart.ts'

export interface Context {
  /** Limited to the caller's workspace. */
  db: Db
  caller: Caller
  clock: Clock
  requestId: string
  settings: RouteSettings
  /**
   * An object that all requests of this process share, made once. Its database sees all workspaces, so it must take the
   * workspace of each request from the caller.
   */
  shared<T>(make: (services: SharedServices) => T): T
  header(name: string): string | undefined
  /** What to store with a message, so that its trace continues that of the client; null if there is none. */
  readonly traceparent: string | null
  /** Says which message the request stored, for its trace. */
  traceMessage(id: string): void
  /** Another status than that of the route. */
  setStatus(status: number): void
  setHeader(name: string, value: string): void
  /** Refuses the request if the key lacks the scope, even if it loses it while the request waits. */
  requireScope(scope: Route['scope']): void
  /**
   * Lets the request wait until `subscribe` calls back, `ms` are over, the client leaves or the process stops. From then on it
   * does not count as a request in progress.
   */
  hold(ms: number, subscribe: Subscribe): Promise<HowEnded>
}

export interface SharedServices {
  db: Db
  /** They are called with the change notices of all processes. */
  changes: Set<OnChange>
  clock: Clock
  secretKeys: SecretKeys
}

export interface RouteSettings {
  publicUrl: string
  /** How much the files of a workspace may take, uploaded and received. */
  mediaBytesPerWorkspace: number
}

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : Record<string, never>

export interface Input<Params, Query, Body> {
  params: StaticOf<Params>
  query: StaticOf<Query>
  body: StaticOf<Body>
}

/** An endpoint of the API: its method, path, scope, schemas and handler. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** For example `/v1/templates/:id`. */
  path: string
  /** The required scope. `none`: any key; `public`: no key. */
  scope: Scope | 'none' | 'public'
  summary: string
  description?: string
  tag: string
  params?: TSchema
  query?: TSchema
  /** The request headers that the handler reads. Only for the OpenAPI document; they are not validated. */
  headers?: TSchema
  body?: TSchema
  /** Examples of the body for the OpenAPI document, by name. Without them, the first example of the schema. */
  bodyExamples?: Readonly<Record<string, unknown>>
  /**
   * The handler validates the body, because the rules are more than a schema can express. The schema only documents it.
   */
  checksBody?: boolean
  /** The request may have no body. `body` is undefined then. */
  isBodyOptional?: boolean
  /** The body may be larger than 256 KiB: up to 2 MiB. */
  receivesBatch?: boolean
  /** The body is a file, as `multipart/form-data`. The handler gets a `FileBody`; the schema only documents it. */
  receivesFile?: boolean
  reply: TSchema
  /** Writes the response instead of the schema, which only documents it, if parts of it must keep their bytes. */
  toJson?: (reply: never) => string
  /** The handler returns a `BytesResponse` instead of JSON. */
  isBytes?: boolean
  /** The handler returns a `WrittenReply`, because it decides about the status. */
  isWritten?: boolean
  /** A browser may call it only from the pages of this service. */
  isForOwnOrigin?: boolean
  status: number
  /** The response of another status, which the handler sets with `setStatus`. */
  otherReply?: { status: number; description: string; reply: TSchema }
  /** Errors of this route, in addition to the errors of every route. */
  errors: readonly ErrorCode[]
  handle(context: Context, input: Input<unknown, unknown, unknown>): unknown
}

/** Defines a route. The types of the handler's input and result come from the schemas. */
export function route<
  Reply extends TSchema,
  Params extends TSchema | undefined = undefined,
  Query extends TSchema | undefined = undefined,
  Body extends TSchema | undefined = undefined,
>(
  row: Omit<Route, 'params' | 'query' | 'body' | 'reply' | 'handle' | 'status' | 'errors'> & {
    params?: Params
    query?: Query
    body?: Body
    reply: Reply
    status?: number
    errors?: readonly ErrorCode[]
    handle(context: Context, input: Input<Params, Query, Body>): Static<Reply> | Promise<Static<Reply>>
  },
): Route {
  // Also enforced by the types. A route without a valid scope would be open to every key.
  if (row.scope !== 'none' && row.scope !== 'public' && !isScope(row.scope)) {
    throw new Error(`the route ${row.method} ${row.path} must have a scope, "none" or "public"`)
  }
  // The pipeline calls a handler only with input that passed validation.
  return { status: 200, errors: [], ...row } as unknown as Route
}

const AnyBytes = Type.Unsafe<BytesResponse>(Type.String({ format: 'binary' }))

/** Defines a route that returns a stream of bytes, with support for Range requests. */
export function bytesRoute<Params extends TSchema | undefined = undefined>(
  row: Omit<Parameters<typeof route<typeof AnyBytes, Params>>[0], 'reply' | 'status' | 'body' | 'checksBody'>,
): Route {
  const errors: readonly ErrorCode[] = [...(row.errors ?? []), 'range_not_satisfiable']
  return { ...route({ ...row, errors, reply: AnyBytes }), isBytes: true }
}

/** A response whose status the handler decides. */
export interface WrittenReply {
  status: number
  /** JSON; null for an empty body. */
  body: string | null
  /** For the request log: the error that the body reports, if the status does not. */
  error?: { code: AnyErrorCode; body: string }
}

/** Defines a route whose handler writes the response itself. */
export function writtenRoute<Body extends TSchema>(
  row: Omit<Parameters<typeof route<TSchema, undefined, undefined, Body>>[0], 'reply' | 'status' | 'handle'> & {
    handle(context: Context, input: Input<undefined, undefined, Body>): Promise<WrittenReply>
  },
): Route {
  return { ...route({ ...row, reply: Type.Unsafe<WrittenReply>(Type.Unknown()) }), isWritten: true }
}

/** Defines a route that receives a file while it arrives. `body` documents the parts. */
export function uploadRoute<Reply extends TSchema>(
  row: Omit<Parameters<typeof route<Reply>>[0], 'params' | 'query' | 'body' | 'checksBody' | 'handle'> & {
    body: TSchema
    handle(context: Context, input: { body: FileBody }): Promise<Static<Reply>>
  },
): Route {
  // The pipeline passes a `FileBody` to a route that receives a file.
  const checked = { ...row, checksBody: true } as unknown as Parameters<typeof route<Reply>>[0]
  return { ...route(checked), receivesFile: true }
}

/** The caller of a public route; has access to no workspace. */
export const anonymous: Caller = {
  workspaceId: '',
  keyId: '',
  keyName: '',
  systemId: '',
  systemKeyIds: [],
  scopes: [],
  rateLimitPerMin: 0,
  isInspected: false,
}

export function requireScope(caller: Caller | null, scope: Route['scope']): void {
  if (scope === 'none' || scope === 'public' || caller?.scopes.includes(scope)) return
  refuse('insufficient_scope', {
    message: `This key lacks the scope '${scope}'.`,
    details: { required_scope: scope, granted_scopes: [...(caller?.scopes ?? [])] },
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })
}
