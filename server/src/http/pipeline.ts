import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Db } from '../db/db.ts'
import type { AccessRequest, Caller, CheckAccess, RateLimitState, RequestRecord } from '../lib/access-check.ts'
import type { AddressRange } from '../lib/addresses.ts'
import type { Clock } from '../lib/clock.ts'
import { newUuid, withPrefix } from '../lib/ids.ts'
import type { Logger } from '../lib/logger.ts'
import { refuse } from '../lib/refuse.ts'
import type { Bodies } from './bodies.ts'
import type { Bytes } from './bytes.ts'
import { clientAddressReader } from './client-address.ts'
import type { ClientTimeouts } from './client-timeouts.ts'
import { errorResponse, jsonType, malformedUrl, noHost } from './errors.ts'
import { readJson } from './json-body.ts'
import type { Context, Route } from './route.ts'
import { type Found, newTable, type Row, type Table } from './table.ts'
import { isReadable } from './url.ts'

/**
 * What happens to any request under /v1, in this order: request id, client address, key, budget, 404 or 405, scope, body,
 * validation, handler. Whatever the end, the answer has the standing headers, an error has the one shape, and the request
 * is recorded. It stands on Node's own server, without Fastify's hooks: docs/decisions/v1-without-fastify.md.
 */
export interface PipelineDeps {
  db: Db
  clock: Clock
  log: Logger
  publicUrl: string
  trustProxy: readonly AddressRange[]
  timeouts: ClientTimeouts
  bodies: Bodies
  admit: CheckAccess
  record(record: RequestRecord): void
}

export type Pipeline = (request: IncomingMessage, response: ServerResponse) => void

export function newPipeline(routes: readonly Route[], deps: PipelineDeps): Pipeline {
  const place: Place = { ...deps, table: newTable(routes), addressOf: clientAddressReader(deps.trustProxy) }
  return (request, response) => void new Exchange(place, request, response).run()
}

interface Place extends PipelineDeps {
  table: Table
  addressOf(request: IncomingMessage): string
}

/** A request and its answer; to the gate it is a visitor, to the handler its context. One object, since there are many. */
class Exchange implements AccessRequest, Context {
  readonly #id = newUuid()
  readonly requestId = withPrefix('req', this.#id)
  readonly address: string
  readonly #place: Place
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #url: string
  readonly #at: Date
  readonly #startedMs = performance.now()
  readonly #found: Found | null
  #caller: Caller | null = null
  #budget: RateLimitState = notCharged
  #code: string | null = null
  /** Headers that only this answer has: names and values in turn. */
  #more: string[] | undefined

  constructor(place: Place, request: IncomingMessage, response: ServerResponse) {
    this.#place = place
    this.#request = request
    this.#response = response
    this.#url = request.url ?? '/'
    this.#at = place.clock.now()
    this.address = place.addressOf(request)
    this.#found = isReadable(request) ? place.table.find(request.method as string, this.#url) : null
  }

  get authorization(): string | undefined {
    return this.#request.headers.authorization
  }

  get isPublic(): boolean {
    return this.#found?.row.scope === 'public'
  }

  async run(): Promise<void> {
    const response = this.#response
    const admitting = this.#place.admit(this)
    response.on('close', () => {
      const status = response.writableFinished ? response.statusCode : gone
      // A client may go away before it is known whose request it was; that is recorded as well.
      const record = () => this.#record(status)
      void admitting.then(record, record)
    })
    try {
      const admission = await admitting
      this.#caller = admission.caller
      this.#budget = admission.budget
      if (admission.kind === 'refused') throw admission.refusal
      const found = this.#found ?? this.#nowhere()
      requireScope(admission.caller, found.row.scope)
      await this.#handle(found)
    } catch (error) {
      this.#fail(error)
    } finally {
      // Not when the response has been sent: it may have to wait for those before it on the connection.
      this.#place.bodies.release(this.#request)
    }
  }

  /** Answers with what went wrong. */
  #fail(error: unknown): void {
    const { log, publicUrl } = this.#place
    const failed = { requestId: this.requestId, route: this.#route(), publicUrl, log }
    const { status, code, headers, body } = errorResponse(error, failed)
    // Of an answer that has begun nothing can be taken back; that it is not the whole has to show.
    if (this.#response.headersSent) return void this.#response.destroy()
    this.#code = code
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value)
    // A body that nobody will read is drained by Node up to this size; a larger one is not worth the wait.
    if (Number(this.#request.headers['content-length'] ?? 0) > 10_000_000) this.#response.shouldKeepAlive = false
    this.#sendJson(status, body)
  }

  #record(status: number): void {
    const { method = '', headers } = this.#request
    this.#place.record({
      id: this.#id,
      at: this.#at,
      caller: this.#caller,
      method,
      route: this.#route(),
      status,
      code: this.#code,
      durationUs: Math.round((performance.now() - this.#startedMs) * 1000),
      address: this.address,
      userAgent: headers['user-agent']?.slice(0, 200) ?? null,
    })
  }

  get caller(): Caller {
    return this.#caller ?? nobody
  }

  get db(): Db {
    return this.#place.db.within(this.caller.workspaceId)
  }

  get clock(): Clock {
    return this.#place.clock
  }

  header(name: string): string | undefined {
    return this.#request.headers[name]?.toString()
  }

  setHeader(name: string, value: string): void {
    this.#more ??= []
    this.#more.push(name, value)
  }

  async #handle({ row, params, query }: Found): Promise<void> {
    const { method } = this.#request
    const body = method === 'GET' || method === 'HEAD' ? undefined : await this.#readBody()
    row.checks.params?.(params)
    row.checks.query(query)
    row.checks.body?.(body)
    // The checks are what makes these the types the route declares.
    const answer = await row.handle(this, { params, query, body } as Parameters<Row['handle']>[1])
    if (row.isBytes) await this.#sendBytes(answer as Bytes)
    else if (row.status === 204) this.#response.writeHead(204, this.#headers()).end()
    else this.#sendJson(row.status, row.toJson(answer))
  }

  #readBody(): Promise<unknown> {
    const { bodies, timeouts } = this.#place
    return readJson(bodies, this.#request, timeouts.bodyMs)
  }

  #sendJson(status: number, body: string): void {
    const headers = this.#headers()
    headers.push('content-type', jsonType, 'content-length', String(Buffer.byteLength(body)))
    this.#response.writeHead(status, headers)
    this.#response.end(body)
  }

  /** Streams: the next bytes are made when the client has taken the ones before. A HEAD makes none. */
  async #sendBytes({ status, headers: own, open }: Bytes): Promise<void> {
    const bytes = Readable.from(this.#request.method === 'HEAD' ? [] : open(), { objectMode: false })
    // While nothing is written, what goes wrong can be told; later the connection breaks off.
    await once(bytes, 'readable')
    const headers = this.#headers()
    for (const [name, value] of Object.entries(own)) headers.push(name, value)
    this.#response.writeHead(status, headers)
    await pipeline(bytes, this.#response).catch(() => {})
  }

  #headers(): string[] {
    const headers = commonHeaders(this.requestId, this.#budget)
    if (this.#more) headers.push(...this.#more)
    return headers
  }

  #nowhere(): never {
    if (isReadable(this.#request)) throw this.#place.table.missing(this.#url)
    throw this.#request.headers.host === undefined ? noHost() : malformedUrl()
  }

  /** The pattern of the route, or what was asked for where there is none. */
  #route(): string {
    return this.#found?.row.path ?? (this.#url.split('?', 1)[0] as string).slice(0, 200)
  }
}

/** Nothing was charged: the database could not be asked. */
export const notCharged: RateLimitState = { limit: 600, remaining: 600, resetSeconds: 60 }

/** The headers that stand on every answer under /v1: names and values in turn, which Node writes without a detour. */
export function commonHeaders(requestId: string, budget: RateLimitState): string[] {
  return [
    'x-request-id',
    requestId,
    'ratelimit-limit',
    String(budget.limit),
    'ratelimit-remaining',
    String(budget.remaining),
    'ratelimit-reset',
    String(budget.resetSeconds),
    'cache-control',
    'no-store',
    'x-content-type-options',
    'nosniff',
  ]
}

/** The client went away before the answer was written. */
const gone = 499

/** The caller of a public route: sees no workspace at all. */
const nobody: Caller = { workspaceId: '', keyId: '', keyName: '', scopes: [], budget: 0 }

function requireScope(caller: Caller | null, scope: Route['scope']): void {
  if (scope === 'none' || scope === 'public' || caller?.scopes.includes(scope)) return
  refuse('insufficient_scope', {
    message: `This key lacks the scope '${scope}'.`,
    details: { required_scope: scope, granted_scopes: [...(caller?.scopes ?? [])] },
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })
}
