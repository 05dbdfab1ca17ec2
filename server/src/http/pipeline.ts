import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Db } from '../db/db.ts'
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
} from '../lib/access-check.ts'
import type { AddressRange } from '../lib/addresses.ts'
import type { Clock } from '../lib/clock.ts'
import { newUuid, withoutPrefix, withPrefix } from '../lib/ids.ts'
import type { Logger } from '../lib/logger.ts'
import { refuse } from '../lib/refuse.ts'
import type { Bodies } from './bodies.ts'
import type { BytesResponse } from './bytes.ts'
import { anonymous, requireScope } from './caller.ts'
import { clientAddressReader } from './client-address.ts'
import type { ClientTimeouts } from './client-timeouts.ts'
import { errorResponse, malformedUrl, missingHost } from './errors.ts'
import type { HeldRequest, HeldRequests, HowEnded, Subscribe } from './held-requests.ts'
import { inspectedRequest } from './inspected-request.ts'
import { readJson } from './json-body.ts'
import { openFileBody } from './multipart.ts'
import { closeLater, commonHeaders, notCharged, sendBytes, sendJson } from './reply.ts'
import type { Context, Route, RouteSettings, SharedServices, WrittenReply } from './route.ts'
import { type CompiledRoute, newRouter, type RouteMatch, type Router } from './router.ts'
import { hasValidTarget } from './url.ts'
import type { WorkspaceRequests } from './workspace-requests.ts'

/**
 * Handles every request under /v1 and to /mcp, in this order: request ID, client address, key, rate limit, 404 or 405, scope,
 * body, validation, handler. Every response has the common headers, every error has the same shape, and every request is
 * recorded. It uses Node's own server without Fastify's hooks: docs/decisions/v1-without-fastify.md.
 */
export interface PipelineDeps extends SharedServices {
  log: Logger
  publicUrl: string
  trustProxy: readonly AddressRange[]
  timeouts: ClientTimeouts
  bodies: Bodies
  workspaceRequests: WorkspaceRequests
  heldRequests: HeldRequests
  settings: RouteSettings
  admit: CheckAccess
  inspect: Inspect
  record(record: RequestRecord): void
}

/** Resolves when all work for the request is done, even if the client left before. Never rejects. */
export type Pipeline = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export function newPipeline(routes: readonly Route[], deps: PipelineDeps): Pipeline {
  const addressOf = clientAddressReader(deps.trustProxy)
  const services: Services = { ...deps, router: newRouter(routes), addressOf, shared: new Map() }
  return (request, response) => new Exchange(services, request, response).run()
}

interface Services extends PipelineDeps {
  router: Router
  addressOf(request: IncomingMessage): string
  /** What `Context.shared` has made, by the function that made it. */
  shared: Map<unknown, unknown>
}

/**
 * A request and its response. It is also the input of the access check and the context of the handler: a single object
 * per request is cheaper.
 */
class Exchange implements AccessRequest, Context {
  readonly #id = newUuid()
  readonly requestId = withPrefix('req', this.#id)
  readonly address: string
  readonly #services: Services
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #url: string
  readonly #at: Date
  readonly #startedMs = performance.now()
  readonly #match: RouteMatch | null
  #caller: Caller | null = null
  /** Whether a key was accepted. */
  #isAuthenticated = false
  #rateLimit: RateLimitState = notCharged
  #code: string | null = null
  #keyHint: string | null = null
  #body: InspectedRequest['body'] | undefined
  #contents: RequestContents | null = null
  /** Set once the request has waited. */
  #held: HeldRequest | null = null
  /** The access check after the last wait. */
  #rechecking: Promise<AccessDecision> | null = null
  /** A scope that the handler required, in addition to the one of the route. */
  #moreScope: Route['scope'] = 'none'
  /** The message that the request stored. */
  #messageId: string | null = null
  /** Headers of this response only: names and values alternate. */
  #extraHeaders: string[] | undefined

  constructor(services: Services, request: IncomingMessage, response: ServerResponse) {
    this.#services = services
    this.#request = request
    this.#response = response
    this.#url = request.url ?? '/'
    this.#at = services.clock.now()
    this.address = services.addressOf(request)
    this.#match = hasValidTarget(request) ? services.router.find(request.method as string, this.#url) : null
  }

  get authorization(): string | undefined {
    return this.#request.headers.authorization
  }

  get isPublic(): boolean {
    return this.#match?.route.scope === 'public'
  }

  async run(): Promise<void> {
    const response = this.#response
    const checking = this.#services.admit(this)
    response.on('close', () => {
      const status = response.writableFinished ? response.statusCode : clientClosedRequest
      // A client may disconnect before the access check is done. Wait for it, to record the key as well.
      const record = () => this.#record(status)
      void checking.then(record, record)
    })
    try {
      const access = await checking
      this.#caller = access.caller
      this.#rateLimit = access.rateLimit
      if (access.kind === 'refused') {
        this.#keyHint = access.keyHint
        throw access.refusal
      }
      this.#isAuthenticated = access.caller !== null
      const match = this.#match ?? this.#rejectUnmatched()
      requireScope(access.caller, match.route.scope)
      if (match.route.isForOwnOrigin) this.#requireOwnOrigin()
      await this.#handleOfWorkspace(match)
    } catch (error) {
      this.#fail(error)
    } finally {
      // Not on the response's `close` event: the response may have to wait for earlier ones on the connection.
      this.#services.bodies.release(this.#request)
      this.#body = undefined
    }
  }

  /** Sends the error response. */
  #fail(error: unknown): void {
    const { log, publicUrl } = this.#services
    const failed = { requestId: this.requestId, route: this.#route(), publicUrl, log }
    const { status, code, headers, body } = errorResponse(error, failed)
    // The status is already sent. Close the connection, so the client sees that the response is incomplete.
    if (this.#response.headersSent) return void this.#response.destroy()
    this.#code = code
    for (const [name, value] of Object.entries(headers)) this.setHeader(name, value)
    // Node reads and discards the unread body to reuse the connection. Close it instead if the body is larger than
    // this. A client that is sending a file might lose the response, so its connection is closed later.
    if (this.#match?.route.receivesFile) closeLater(this.#request, this.#services.timeouts.discardMs)
    else if (Number(this.#request.headers['content-length'] ?? 0) > 10_000_000) this.#response.shouldKeepAlive = false
    if (this.#caller) this.#inspect({ kind: 'error', text: body })
    sendJson(this.#response, status, this.#headers(), body)
  }

  /** Not when the request is recorded: its body is gone then. */
  #inspect(response: InspectedResponse): void {
    const { inspect, log } = this.#services
    try {
      const request = inspectedRequest(this.#request, this.#match, this.#pattern(), this.#body)
      this.#contents = inspect(this.caller, this.#at, this.#code, request, response)
    } catch (error) {
      // What is stored for people to look at must not fail the request.
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
      route: this.#route(),
      status,
      code: this.#code,
      durationUs: Math.round((performance.now() - this.#startedMs) * 1000),
      address: this.address,
      userAgent: headers['user-agent']?.slice(0, 200) ?? null,
      keyHint: this.#keyHint,
      contents: this.#contents,
    })
    this.#services.db.process.tracing?.request({
      id: this.#id,
      startedMs: performance.timeOrigin + this.#startedMs,
      method,
      route: this.#pattern(),
      status,
      code: this.#code,
      workspaceId: this.#caller?.workspaceId ?? null,
      messageId: this.#messageId,
      // Anyone could have their requests recorded, whatever part of the traces is.
      traceparent: this.#isAuthenticated ? this.header('traceparent') : undefined,
    })
  }

  get traceparent(): string | null {
    return this.#services.db.process.tracing?.traceparentFor(this.#id, this.header('traceparent')) ?? null
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
    const { shared, db, clock, secretKeys } = this.#services
    if (!shared.has(make)) shared.set(make, make({ db, clock, secretKeys }))
    return shared.get(make) as T
  }

  header(name: string): string | undefined {
    return this.#request.headers[name]?.toString()
  }

  setHeader(name: string, value: string): void {
    this.#extraHeaders ??= []
    this.#extraHeaders.push(name, value)
  }

  /** A request that waits was counted when it began. */
  get isCounted(): boolean {
    return this.#held !== null
  }

  async hold(ms: number, subscribe: Subscribe): Promise<HowEnded> {
    this.#held ??= this.#services.heldRequests.begin(this.#response, this.caller.workspaceId)
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

  async #handleOfWorkspace(match: RouteMatch): Promise<void> {
    const { workspaceRequests } = this.#services
    const { workspaceId } = this.caller
    // A public route.
    if (workspaceId === '') return this.#handle(match)
    workspaceRequests.begin(workspaceId)
    try {
      await this.#handle(match)
    } finally {
      if (this.#held) this.#held.end()
      else workspaceRequests.end(workspaceId)
    }
  }

  async #handle({ route, params, query }: RouteMatch): Promise<void> {
    const { method } = this.#request
    const hasBody = method !== 'GET' && method !== 'HEAD'
    const body = route.receivesFile ? this.#openFile() : hasBody ? await this.#readBody(route) : undefined
    if (route.receivesFile) this.#body = { kind: 'file' }
    else if (body !== undefined) this.#body = { kind: 'json', value: body }
    route.checks.params?.(params)
    route.checks.query(query)
    route.checks.body?.(body)
    // The checks above guarantee the types that the route declares.
    const input = { params, query, body } as Parameters<CompiledRoute['handle']>[1]
    const result = await route.handle(this, input)
    await this.#requireAccessStill(route)
    const { isInspected } = this.caller
    if (route.isBytes) {
      if (isInspected) this.#inspect({ kind: 'file' })
      await sendBytes(this.#request, this.#response, this.#headers(), result as BytesResponse)
    } else if (route.isWritten) {
      this.#sendWritten(result as WrittenReply)
    } else if (route.status === 204) {
      if (isInspected) this.#inspect({ kind: 'none' })
      this.#response.writeHead(204, this.#headers()).end()
    } else {
      const text = route.toJson(result)
      if (isInspected) this.#inspect({ kind: 'json', text })
      sendJson(this.#response, route.status, this.#headers(), text)
    }
  }

  #sendWritten({ status, body, error }: WrittenReply): void {
    if (error) {
      this.#code = error.code
      this.#inspect({ kind: 'error', text: error.body })
    } else if (this.caller.isInspected) this.#inspect(body === null ? { kind: 'none' } : { kind: 'json', text: body })
    if (body === null) this.#response.writeHead(status, this.#headers()).end()
    else sendJson(this.#response, status, this.#headers(), body)
  }

  #readBody({ isBodyOptional }: CompiledRoute): Promise<unknown> {
    const { bodies, timeouts } = this.#services
    return readJson(bodies, this.#request, timeouts.bodyMs, this.caller.workspaceId || undefined, isBodyOptional)
  }

  #openFile() {
    const { bodies, timeouts } = this.#services
    return openFileBody(this.#request, () => bodies.stream(this.#request, this.caller.workspaceId, timeouts))
  }

  #headers(): string[] {
    const headers = commonHeaders(this.requestId, this.#rateLimit)
    if (this.#extraHeaders) headers.push(...this.#extraHeaders)
    return headers
  }

  #rejectUnmatched(): never {
    if (hasValidTarget(this.#request)) throw this.#services.router.unmatched(this.#url)
    throw this.#request.headers.host === undefined ? missingHost() : malformedUrl()
  }

  /** The path pattern of the route; null if there is none. */
  #pattern(): string | null {
    return this.#match?.route.path ?? this.#services.router.patternOf(this.#url)
  }

  /** What is logged instead of the path. A path without a route is not: it may contain a phone number or a key. */
  #route(): string {
    return this.#pattern() ?? '(no route)'
  }
}

/** Recorded if the client disconnects before the response is sent (as in nginx). */
const clientClosedRequest = 499
