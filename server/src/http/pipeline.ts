import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../db/db.ts'
import type { Clock } from '../lib/clock.ts'
import { withoutPrefix } from '../lib/ids.ts'
import { refuse } from '../lib/refuse.ts'
import type { AddressRange } from '../net/addresses.ts'
import type { Logger } from '../telemetry/logger.ts'
import type {
  AccessDecision,
  AccessRequest,
  Caller,
  CheckAccess,
  Inspect,
  InspectedRequest,
  InspectedResponse,
  RateLimitState,
  RequestContents,
  RequestRecord,
} from './access-check.ts'
import type { Bodies, BodySource } from './bodies.ts'
import { type BytesResponse, openBytes } from './bytes.ts'
import { clientAddressReader } from './client-address.ts'
import { type CompiledRoute, compileRoute } from './compiled-route.ts'
import { type ErrorResponse, jsonType, malformedUrl, missingHost } from './errors.ts'
import { hasBody, readJson } from './json-body.ts'
import { errorOf, isMalformed, lacksHost, requireUsableSchema, type SchemaState, sendError } from './lifecycle.ts'
import type { HeldRequest, HeldRequests, HowEnded, Subscribe } from './limits/held-requests.ts'
import type { ClientTimeouts } from './limits/limits.ts'
import type { WorkspaceSlots } from './limits/slots.ts'
import { openFileBody } from './multipart.ts'
import { type KnownPath, newPathFinder, newPathGuesser } from './paths.ts'
import {
  anonymous,
  type Context,
  type Route,
  type RouteSettings,
  requireScope,
  type SharedServices,
  type WrittenReply,
} from './route.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    route?: CompiledRoute
  }
  interface FastifyRequest {
    /** Only under /v1 and at /mcp, once its limits are checked. */
    exchange: Exchange | null
  }
}

export interface PipelineDeps extends SharedServices, SchemaState {
  log: Logger
  publicUrl: string
  trustProxy: readonly AddressRange[]
  timeouts: ClientTimeouts
  bodies: Bodies
  /** Of requests in progress. */
  requestSlots: WorkspaceSlots
  heldRequests: HeldRequests
  settings: RouteSettings
  admit: CheckAccess
  inspect: Inspect
  record(record: RequestRecord): void
}

/**
 * Mounts the routes under /v1 and at /mcp. Every request passes the same checks in this order: request ID, client address,
 * key, rate limit, 404 or 405, scope, body, validation, handler. Every response has the common headers, every error has the
 * same shape, and every request is recorded.
 */
export function mountApi(app: FastifyInstance, routes: readonly Route[], deps: PipelineDeps): void {
  const services: Services = {
    ...deps,
    addressOf: clientAddressReader(deps.trustProxy),
    findPath: newPathFinder(routes),
    guessPath: newPathGuesser(routes),
    shared: new Map(),
  }
  for (const [prefix = '', own] of Map.groupBy(routes, ({ path }) => path.match(/^\/[^/]+/)?.[0])) {
    app.register(async (scope) => mountRoutes(scope, prefix, own, services), { prefix })
  }
}

/** In a scope of Fastify, so that unknown paths under the prefix are handled in the same way. */
function mountRoutes(scope: FastifyInstance, prefix: string, routes: readonly Route[], services: Services): void {
  scope.decorateRequest('exchange', null)
  scope.addHook('onRequest', (request, reply) => {
    requireUsableSchema(services)
    request.exchange = new Exchange(services, request, reply)
    return request.exchange.admit()
  })
  scope.addHook('onSend', (request, reply, payload, done) => {
    reply.headers(commonHeaders(request.exchange?.rateLimit ?? notCharged))
    request.exchange?.sent()
    done(null, payload)
  })
  scope.setErrorHandler((error, request, reply) => {
    const response = errorOf(error, request, services)
    request.exchange?.failed(response)
    return sendError(response, request, reply)
  })
  // Refused when it is admitted.
  scope.setNotFoundHandler(() => refuse('not_found'))
  for (const each of routes) {
    const route = compileRoute(each)
    scope.route({
      method: route.method,
      url: route.path.slice(prefix.length),
      config: { route, ...bodySourceOf(route) },
      handler: ({ exchange }) => exchange?.handle(route),
    })
  }
}

const bodySourceOf = ({ receivesFile, receivesBatch }: Route) => {
  const source: BodySource | null = receivesFile ? 'upload' : receivesBatch ? 'batch' : null
  return source && { bodySource: () => source }
}

/** For responses whose request was not counted, because the database was unavailable. */
export const notCharged: RateLimitState = { limit: 600, remaining: 600, resetSeconds: 60 }

/** The headers of every response of the API, in addition to its request ID. */
export const commonHeaders = ({ limit, remaining, resetSeconds }: RateLimitState): Record<string, string> => ({
  'ratelimit-limit': String(limit),
  'ratelimit-remaining': String(remaining),
  'ratelimit-reset': String(resetSeconds),
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
})

interface Services extends PipelineDeps {
  addressOf: ReturnType<typeof clientAddressReader>
  findPath: ReturnType<typeof newPathFinder>
  guessPath: ReturnType<typeof newPathGuesser>
  /** What `Context.shared` has made, by the function that made it. */
  shared: Map<unknown, unknown>
}

/**
 * A request and its response. It is also the input of the access check and the context of the handler: a single object
 * per request is cheaper.
 */
class Exchange implements AccessRequest, Context {
  readonly #id: string
  readonly requestId: string
  readonly address: string
  readonly #services: Services
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply
  readonly #at: Date
  readonly #startedMs = performance.now()
  readonly #route: CompiledRoute | undefined
  /** If no route matches: the path, if it has routes of other methods. */
  readonly #path: KnownPath | undefined
  #caller: Caller | null = null
  #isAuthenticated = false
  rateLimit: RateLimitState = notCharged
  #code: string | null = null
  #keyHint: string | null = null
  #body: InspectedRequest['body'] | undefined
  #contents: RequestContents | null = null
  /** Whether it counts as a request of its workspace in progress. */
  #isInProgress = false
  /** Whether the response is a file, which takes as long as the client reads it. */
  #isStreaming = false
  #held: HeldRequest | null = null
  /** The access check after the last wait. */
  #rechecking: Promise<AccessDecision> | null = null
  /** A scope that the handler required, in addition to the one of the route. */
  #moreScope: Route['scope'] = 'none'
  /** Set if it is not that of the route. */
  #status: number | null = null
  #messageId: string | null = null

  constructor(services: Services, request: FastifyRequest, reply: FastifyReply) {
    this.#services = services
    this.#request = request
    this.#reply = reply
    this.requestId = request.id
    this.#id = withoutPrefix('req', request.id) as string
    this.#at = services.clock.now()
    this.address = services.addressOf(request.raw)
    // The router takes `/v1/messages/` for a message without an ID.
    const lacksId = Object.values(request.params ?? {}).includes('')
    this.#route = lacksId ? undefined : request.routeOptions.config.route
    if (!this.#route) this.#path = services.findPath(request.url)
  }

  get authorization(): string | undefined {
    return this.#request.headers.authorization
  }

  get isPublic(): boolean {
    if (this.#route) return this.#route.scope === 'public'
    return this.#request.method === 'OPTIONS' && this.#path?.isPublic === true
  }

  /** Checks everything that does not need the body. */
  async admit(): Promise<void> {
    const { raw } = this.#reply
    const checking = this.#services.admit(this)
    raw.on('close', () => {
      const status = raw.writableFinished ? raw.statusCode : clientClosedRequest
      // A client may disconnect before the access check is done. Wait for it, to record the key as well.
      const record = () => this.#record(status)
      void checking.then(record, record)
    })
    const access = await checking
    this.#caller = access.caller
    this.rateLimit = access.rateLimit
    if (access.kind === 'refused') {
      this.#keyHint = access.keyHint
      throw access.refusal
    }
    this.#isAuthenticated = access.caller !== null
    if (lacksHost(this.#request.raw)) throw missingHost()
    if (isMalformed(this.#request)) throw malformedUrl()
    if (!this.#route) return this.#rejectUnmatched()
    requireScope(access.caller, this.#route.scope)
    if (this.#route.isForOwnOrigin) this.#requireOwnOrigin()
    if (access.caller) {
      this.#services.requestSlots.take(access.caller.workspaceId)
      this.#isInProgress = true
    }
  }

  #rejectUnmatched(): void {
    if (!this.#path) {
      const guess = this.#services.guessPath(this.#request.url)
      const hint = guess === undefined ? 'All paths are listed at /docs/api.' : `Did you mean ${guess}?`
      refuse('not_found', { message: `This path does not exist. ${hint}` })
    }
    const { methods } = this.#path
    if (this.#request.method !== 'OPTIONS') refuse('method_not_allowed', { headers: { Allow: methods } })
    this.#reply.code(204).header('Allow', methods).send()
  }

  /** Reads the body, calls the handler of the route and sends its result. */
  async handle(route: CompiledRoute): Promise<FastifyReply> {
    const { params, query } = this.#request
    const body = await this.#readBody(route)
    route.checks.params?.(params)
    route.checks.query(query)
    route.checks.body?.(body)
    // The checks above guarantee the types that the route declares.
    const result = await route.handle(this, { params, query, body } as Parameters<Route['handle']>[1])
    await this.#requireAccessStill(route)
    if (route.isBytes) return this.#sendBytes(result as BytesResponse)
    if (route.isWritten) return this.#sendWritten(result as WrittenReply)
    return this.#sendText(this.#status ?? route.status, route.status === 204 ? null : route.toJson(result))
  }

  async #readBody({ receivesFile, receivesBatch, isBodyOptional }: CompiledRoute): Promise<unknown> {
    const { bodies, timeouts } = this.#services
    const { method, raw } = this.#request
    const { workspaceId } = this.caller
    if (method === 'GET' || method === 'HEAD') return undefined
    if (receivesFile) {
      const file = openFileBody(raw, () => bodies.stream(raw, workspaceId, timeouts))
      this.#body = { kind: 'file' }
      return file
    }
    const source = receivesBatch ? 'batch' : 'client'
    const value = await readJson(bodies, raw, timeouts.bodyMs, workspaceId || undefined, isBodyOptional, source)
    if (value !== undefined) this.#body = { kind: 'json', value }
    return value
  }

  async #sendBytes(response: BytesResponse): Promise<FastifyReply> {
    const { status, headers } = response
    if (this.caller.isInspected) this.#inspect({ kind: 'file' })
    const bytes = await openBytes(response, this.#request.method)
    this.#isStreaming = true
    bytes.once('close', () => this.#end())
    return this.#reply.code(status).headers(headers).send(bytes)
  }

  #sendWritten({ status, body, error }: WrittenReply): FastifyReply {
    if (!error) return this.#sendText(status, body)
    this.#code = error.code
    this.#inspect({ kind: 'error', text: error.body })
    return this.#reply.code(status).type(jsonType).send(body)
  }

  #sendText(status: number, text: string | null): FastifyReply {
    if (this.caller.isInspected) this.#inspect(text === null ? { kind: 'none' } : { kind: 'json', text })
    this.#reply.code(status)
    return text === null ? this.#reply.send() : this.#reply.header('content-type', jsonType).send(text)
  }

  /** Notes the error that is sent as the response. */
  failed({ code, body }: ErrorResponse): void {
    const { raw } = this.#request
    this.#code = code
    // A client that is sending a file might lose the response if its connection were closed.
    if (this.#route?.receivesFile) closeLater(raw, this.#services.timeouts.discardMs)
    if (this.#caller) this.#inspect({ kind: 'error', text: body })
  }

  /** The response is about to be sent. */
  sent(): void {
    this.#body = undefined
    if (!this.#isStreaming) this.#end()
  }

  #end(): void {
    if (!this.#isInProgress) return
    this.#isInProgress = false
    if (this.#held) this.#held.end()
    else this.#services.requestSlots.release(this.caller.workspaceId)
  }

  /** Not when the request is recorded: its body is gone then. */
  #inspect(response: InspectedResponse): void {
    const { inspect, log } = this.#services
    try {
      const { params, query, raw } = this.#request
      const body = this.#body ?? { kind: hasBody(raw) ? 'unread' : 'none' }
      const request = { pattern: this.#pattern, params, query, body }
      this.#contents = inspect(this.caller, this.#services.clock.now(), this.#code, request, response)
    } catch (error) {
      // A failure of the request inspector must not fail the request.
      log.error(
        { event: 'request_contents.failed', err: error, request_id: this.requestId },
        'the contents of a request could not be redacted',
      )
    }
  }

  #record(status: number): void {
    const { method = '', headers } = this.#request
    this.#services.record({
      id: this.#id,
      at: this.#at,
      caller: this.#caller,
      method,
      route: this.#pattern ?? '(no route)',
      status,
      code: this.#code,
      durationUs: Math.round((performance.now() - this.#startedMs) * 1000),
      address: this.address,
      userAgent: headers['user-agent']?.slice(0, 200) ?? null,
      keyHint: this.#keyHint,
      contents: this.#contents,
    })
    this.#services.db.telemetry.tracing?.request({
      id: this.#id,
      startedMs: performance.timeOrigin + this.#startedMs,
      method,
      route: this.#pattern,
      status,
      code: this.#code,
      workspaceId: this.#caller?.workspaceId ?? null,
      messageId: this.#messageId,
      // Anyone could have their requests recorded, whatever part of the traces is.
      traceparent: this.#isAuthenticated ? this.header('traceparent') : undefined,
    })
  }

  get traceparent(): string | null {
    return this.#services.db.telemetry.tracing?.traceparentFor(this.#id, this.header('traceparent')) ?? null
  }

  traceMessage(id: string): void {
    this.#messageId = withoutPrefix('msg', id) ?? null
  }

  get caller(): Caller {
    return this.#caller ?? anonymous
  }

  get db(): Db {
    return this.#services.db.within(this.caller.workspaceId)
  }

  get settings(): RouteSettings {
    return this.#services.settings
  }

  get clock(): Clock {
    return this.#services.clock
  }

  shared<T>(make: (services: SharedServices) => T): T {
    const { shared, db, changes, clock, secretKeys } = this.#services
    if (!shared.has(make)) shared.set(make, make({ db, changes, clock, secretKeys }))
    return shared.get(make) as T
  }

  header(name: string): string | undefined {
    return this.#request.headers[name]?.toString()
  }

  setStatus(status: number): void {
    this.#status = status
  }

  setHeader(name: string, value: string): void {
    this.#reply.header(name, value)
  }

  /** A request that waits was counted when it began. */
  get isCounted(): boolean {
    return this.#held !== null
  }

  async hold(ms: number, subscribe: Subscribe): Promise<HowEnded> {
    this.#held ??= this.#services.heldRequests.begin(this.#reply.raw, this.caller.workspaceId)
    const how = await this.#held.wait(ms, subscribe)
    if (how !== 'ended') {
      // At the same time as the handler looks for what the request waited for.
      this.#rechecking = this.#services.admit(this)
      this.#rechecking.catch(() => {})
    }
    return how
  }

  /** While the request waited, its key may have been revoked, or its workspace suspended. */
  async #requireAccessStill({ scope }: CompiledRoute): Promise<void> {
    if (this.#rechecking === null) return
    const access = await this.#rechecking
    if (access.kind === 'refused') throw access.refusal
    requireScope(access.caller, scope)
    requireScope(access.caller, this.#moreScope)
  }

  requireScope(scope: Route['scope']): void {
    requireScope(this.caller, scope)
    this.#moreScope = scope
  }

  /** A page of another site could use DNS rebinding to call a service that only its visitor can reach. */
  #requireOwnOrigin(): void {
    const { origin } = this.#request.headers
    if (origin !== undefined && origin !== new URL(this.#services.publicUrl).origin) refuse('origin_not_allowed')
  }

  /**
   * The path pattern of the route; null if there is none. A path without a route is not logged: it may contain a phone number
   * or a key.
   */
  get #pattern(): string | null {
    return this.#route?.path ?? this.#path?.pattern ?? null
  }
}

/** Closes the connection of a client that is still sending its body after this time. */
function closeLater(request: FastifyRequest['raw'], ms: number): void {
  const { complete, socket } = request
  if (complete) return
  const timer = setTimeout(() => request.complete || socket.destroy(), ms)
  timer.unref()
  request.once('close', () => clearTimeout(timer))
}

/** Recorded if the client disconnects before the response is sent (as in nginx). */
const clientClosedRequest = 499
