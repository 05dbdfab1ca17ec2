import type { ErrorCode } from '@parley/contract/errors'
import { isScope, type Scope } from '@parley/contract/scopes'
import { type Static, type TSchema, Type } from 'typebox'
import type { Db } from '../db/db.ts'
import type { Caller } from '../lib/access-check.ts'
import type { Clock } from '../lib/clock.ts'
import type { Bytes } from './bytes.ts'

/** What a handler is given besides its input. */
export interface Context {
  /** Sees the caller's workspace and nothing else. */
  db: Db
  caller: Caller
  clock: Clock
  requestId: string
  header(name: string): string | undefined
  /** Adds a header to the answer. */
  setHeader(name: string, value: string): void
}

type StaticOf<Schema> = Schema extends TSchema ? Static<Schema> : Record<string, never>

export interface Input<Params, Query, Body> {
  params: StaticOf<Params>
  query: StaticOf<Query>
  body: StaticOf<Body>
}

/** One row of the API's table of contents: who may ask for what, in which shape, and who answers. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As in `/v1/templates/:id`. */
  path: string
  /** The scope a key needs; `none`: any key; `public`: no key. */
  scope: Scope | 'none' | 'public'
  summary: string
  description?: string
  tag: string
  params?: TSchema
  query?: TSchema
  /** Headers that mean something to this route; for its description, it reads them itself. */
  headers?: TSchema
  body?: TSchema
  /** The handler checks the body itself, which the schema then only describes: its faults depend on more than shape. */
  checksBody?: boolean
  reply: TSchema
  /** The handler answers with `Bytes` in place of JSON. */
  isBytes?: boolean
  status: number
  /** Errors of this route besides those that any route may answer with. */
  errors: readonly ErrorCode[]
  handle(context: Context, input: Input<unknown, unknown, unknown>): unknown
}

/** Ties the types of a row together: the handler gets what the schemas let through and returns what the reply says. */
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
  // The types say so as well; a row that slipped past them would be open to every key.
  if (row.scope !== 'none' && row.scope !== 'public' && !isScope(row.scope)) {
    throw new Error(`the route ${row.method} ${row.path} names no scope, "none" or "public"`)
  }
  // The pipeline calls a handler only with input its own schemas have let through.
  return { status: 200, errors: [], ...row } as unknown as Route
}

const AnyBytes = Type.Unsafe<Bytes>(Type.String({ format: 'binary' }))

/** A row whose answer is a stream of bytes, whole or in part. */
export function bytesRoute<Params extends TSchema | undefined = undefined>(
  row: Omit<Parameters<typeof route<typeof AnyBytes, Params>>[0], 'reply' | 'status' | 'body' | 'checksBody'>,
): Route {
  const errors: readonly ErrorCode[] = [...(row.errors ?? []), 'range_not_satisfiable']
  return { ...route({ ...row, errors, reply: AnyBytes }), isBytes: true }
}
