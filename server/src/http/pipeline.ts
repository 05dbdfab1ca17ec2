import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../db/db.ts'
import type { AddressRange } from '../lib/addresses.ts'
import type { Clock } from '../lib/clock.ts'
import type { Admit, Budget, Caller, RequestRecord } from '../lib/gate.ts'
import type { Logger } from '../lib/logger.ts'
import { Refusal } from '../lib/refuse.ts'
import { errorReply, malformedUrl, noHost, standingHeaders, toRefusal } from './answer.ts'
import { bodyMax, parseJson, readBody } from './body.ts'
import type { Bytes } from './bytes.ts'
import { clientAddressReader } from './client-address.ts'
import type { Patience } from './patience.ts'
import type { Context, Route } from './route.ts'
import { checkFor, plain } from './validate.ts'

/**
 * What happens to any request under /v1, in this order: request id, client address, key, budget, 404 or 405, scope, body,
 * validation, handler. Whatever the end, the answer has the standing headers, an error has the one shape, and the request
 * is recorded.
 */
export interface PipelineDeps {
  db: Db
  clock: Clock
  log: Logger
  publicUrl: string
  trustProxy: readonly AddressRange[]
  patience: Patience
  admit: Admit
  record(record: RequestRecord): void
}

interface Progress {
  /** The pattern of the route, if there is one. */
  route: string | undefined
  at: Date
  startedMs: number
  address: string
  caller: Caller | null
  code: string | null
}

declare module 'fastify' {
  interface FastifyRequest {
    progress: Progress | null
  }
  interface FastifyContextConfig {
    scope?: Route['scope']
  }
}

/** Where the router is sent with a URL it could not read, so that it passes the pipeline like any other; no request can name it. */
export const unreadablePath = '/v1/\0'

/** Nothing was charged: the database could not be asked. */
export const uncharged: Budget = { limit: 600, remaining: 600, resetSeconds: 60 }

/** `app` is the part of the server under /v1; the routes' paths are whole. */
export function mountRoutes(app: FastifyInstance, routes: readonly Route[], deps: PipelineDeps): void {
  const addressOf = clientAddressReader(deps.trustProxy)
  const allowed = methodsByPath(routes)
  const isPublic = (path: string) => routes.some((route) => route.path === path && route.scope === 'public')

  app.decorateRequest('progress', null)
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (request: FastifyRequest) => {
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') throw new Refusal('unsupported_media_type')
    return parseJson(await readBody(request.raw, bodyMax, deps.patience.bodyMs))
  })

  app.addHook('onRequest', async (request, reply) => {
    // Fastify puts this together anew at each look.
    const { url: route, config } = request.routeOptions
    const progress: Progress = {
      route,
      at: deps.clock.now(),
      startedMs: performance.now(),
      address: addressOf(request.raw),
      caller: null,
      code: null,
    }
    request.progress = progress
    reply.raw.on('close', () => deps.record(toRecord(request, reply, progress)))
    const { scope } = config
    const admission = await deps.admit({
      authorization: request.headers.authorization,
      address: progress.address,
      public: scope === 'public',
    })
    progress.caller = admission.caller
    reply.headers(standingHeaders(request.id, admission.budget))
    if (admission.kind === 'refused') throw admission.refusal
    if (request.is404) throw nowhere(request, allowed)
    if (scope !== undefined && scope !== 'none' && scope !== 'public') requireScope(admission.caller, scope)
  })
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, deps))
  // Its hook above has refused already; this is never reached.
  app.setNotFoundHandler((request) => {
    throw nowhere(request, allowed)
  })

  for (const route of routes) mountRoute(app, route, deps)
  for (const [path, methods] of allowed) {
    app.route({
      method: 'OPTIONS',
      url: withoutPrefixOf(app, path),
      config: { scope: isPublic(path) ? 'public' : 'none' },
      handler: (_request, reply) => reply.code(204).header('Allow', methods).send(),
    })
  }
}

function mountRoute(app: FastifyInstance, route: Route, deps: PipelineDeps): void {
  const checks = {
    params: route.params && checkFor('params', route.params),
    query: checkFor('query', route.query ?? noParameters),
    body: route.checksBody ? undefined : route.body && checkFor('body', route.body),
  }
  app.route({
    method: route.method,
    url: withoutPrefixOf(app, route.path),
    config: { scope: route.scope },
    ...(!route.isBytes && { schema: { response: { [route.status]: plain(route.reply) } } }),
    handler(request, reply) {
      checks.params?.(request.params)
      if (route.query || request.originalUrl.includes('?')) checks.query(request.query)
      checks.body?.(request.body)
      const context = new RequestContext(deps, request, reply)
      // The checks above are what makes these the types the route declares.
      const input = { params: request.params, query: request.query, body: request.body } as Parameters<
        Route['handle']
      >[1]
      const answer = route.handle(context, input)
      if (route.isBytes) return sendBytes(request, reply, answer as Promise<Bytes>)
      reply.code(route.status)
      return answer instanceof Promise ? answer : reply.send(answer)
    },
  })
}

/** Streams: the next bytes are made when the client has taken the ones before. A HEAD makes none. */
async function sendBytes(request: FastifyRequest, reply: FastifyReply, made: Promise<Bytes>): Promise<FastifyReply> {
  const { status, headers, open } = await made
  const bytes = request.method === 'HEAD' ? [] : open()
  return reply
    .code(status)
    .headers({ ...headers })
    .send(Readable.from(bytes, { objectMode: false }))
}

/**
 * A class, so that what is rarely needed costs nothing until it is asked for. A getter in an object literal would do the
 * same, but V8 keeps its closure, and with it the whole request, until the next major collection.
 */
class RequestContext implements Context {
  readonly caller: Caller
  readonly clock: Clock
  readonly requestId: string
  readonly #db: Db
  readonly #request: FastifyRequest
  readonly #reply: FastifyReply

  constructor({ db, clock }: PipelineDeps, request: FastifyRequest, reply: FastifyReply) {
    this.caller = request.progress?.caller ?? nobody
    this.clock = clock
    this.requestId = request.id
    this.#db = db
    this.#request = request
    this.#reply = reply
  }

  get db(): Db {
    return this.#db.within(this.caller.workspaceId)
  }

  header(name: string): string | undefined {
    return this.#request.headers[name]?.toString()
  }

  setHeader(name: string, value: string): void {
    this.#reply.header(name, value)
  }
}

const withoutPrefixOf = (app: FastifyInstance, path: string): string => path.slice(app.prefix.length)

const noParameters = { type: 'object', additionalProperties: false, properties: {} }

/** The caller of a public route: sees no workspace at all. */
const nobody: Caller = { workspaceId: '', keyId: '', keyName: '', scopes: [], budget: 0 }

export function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  deps: PipelineDeps,
): FastifyReply {
  const { refusal, bug } = toRefusal(error)
  if (bug) deps.log.error({ err: error, requestId: request.id, route: routeOf(request) }, 'a request failed')
  if (request.progress) request.progress.code = refusal.code
  if (!reply.hasHeader('X-Request-Id')) reply.headers(standingHeaders(request.id, uncharged))
  // A body that nobody will read is drained by Node up to this size; a larger one is not worth the wait.
  if (Number(request.headers['content-length'] ?? 0) > 10_000_000) reply.header('Connection', 'close')
  return reply
    .code(refusal.status)
    .headers(refusal.parts.headers ?? {})
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(errorReply(refusal, request.id, deps.publicUrl))
}

function requireScope(caller: Caller | null, scope: NonNullable<Caller>['scopes'][number]): void {
  if (caller?.scopes.includes(scope)) return
  throw new Refusal('insufficient_scope', {
    message: `This key lacks the scope '${scope}'.`,
    details: { required_scope: scope, granted_scopes: [...(caller?.scopes ?? [])] },
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
  })
}

function nowhere(request: FastifyRequest, allowed: ReadonlyMap<string, string>): Refusal {
  if (request.url === unreadablePath) return request.headers.host === undefined ? noHost() : malformedUrl()
  const path = request.url.split('?', 1)[0] as string
  const methods = [...allowed].find(([pattern]) => matches(pattern, path))?.[1]
  return methods ? new Refusal('method_not_allowed', { headers: { Allow: methods } }) : new Refusal('not_found')
}

function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]))
  )
}

function methodsByPath(routes: readonly Route[]): Map<string, string> {
  const methods = new Map<string, Set<string>>()
  for (const { path, method } of routes) {
    const set = methods.get(path) ?? new Set()
    set.add(method)
    if (method === 'GET') set.add('HEAD')
    methods.set(path, set)
  }
  return new Map([...methods].map(([path, set]) => [path, [...set, 'OPTIONS'].join(', ')]))
}

function routeOf({ is404, progress, originalUrl }: FastifyRequest): string {
  return (is404 ? undefined : progress?.route) ?? (originalUrl.split('?', 1)[0] as string).slice(0, 200)
}

function toRecord(request: FastifyRequest, reply: FastifyReply, progress: Progress): RequestRecord {
  const { at, startedMs, address, caller, code } = progress
  return {
    id: request.id.slice('req_'.length),
    at,
    caller,
    method: request.method,
    route: routeOf(request),
    // 499: the client went away before the answer was written.
    status: reply.raw.writableFinished ? reply.raw.statusCode : 499,
    code,
    durationUs: Math.round((performance.now() - startedMs) * 1000),
    address,
    userAgent: request.headers['user-agent']?.slice(0, 200) ?? null,
  }
}
