import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { newObjectId, newTraceId } from '../ids.ts'
import { errorBody, GraphError, refuseParameter, refuseUnknownObject } from '../network/errors.ts'
import type { Network } from '../network.ts'
import { escapedJson } from '../webhooks/sign.ts'
import { appEdges } from './apps.ts'
import { readBody } from './body.ts'
import { type Edge, findNode, handled } from './call.ts'
import { flowEdges } from './flows.ts'
import { mediaEdges } from './media.ts'
import { messageEdges } from './messages/send.ts'
import { numberEdges } from './numbers.ts'
import { templateEdges } from './templates.ts'
import { authenticate, debugToken, maskToken, requirePermission, tokenText } from './token.ts'
import { wabaEdges } from './wabas.ts'

const edges: Edge[] = [
  ...messageEdges,
  ...templateEdges,
  ...numberEdges,
  ...wabaEdges,
  ...appEdges,
  ...mediaEdges,
  ...flowEdges,
]

const maxBodyBytes = 112 * 1024 * 1024

/** The Graph API. The operations of an object depend on its kind, which is found by ID. */
export function graphRoutes(server: FastifyInstance, network: Network): void {
  for (const url of ['/:version(^v\\d+\\.\\d+$)/:id', '/:version(^v\\d+\\.\\d+$)/:id/:edge'])
    server.route({
      method: ['GET', 'POST', 'DELETE'],
      url,
      bodyLimit: maxBodyBytes,
      handler: (request, reply) => handle(network, request, reply),
    })
}

async function handle(network: Network, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const startedAt = performance.now()
  let status: number | null = 200
  let body: unknown
  let code = 0
  try {
    body = await run(network, request, reply)
  } catch (error) {
    if (!(error instanceof GraphError)) throw error
    status = error.error.status
    code = error.error.code
    body = errorBody(error.error, newTraceId())
  }
  if (body === handled) status = reply.raw.headersSent ? reply.raw.statusCode : null
  network.log.add({
    kind: 'call',
    method: request.method,
    url: request.url.replace(/(access|input)_token=[^&]*/g, '$1_token=…'),
    token: maskToken(tokenText(request)),
    request: loggedBody(request),
    status,
    response: body === handled ? '' : JSON.stringify(body),
    durationMs: Math.round(performance.now() - startedAt),
  })
  if (body === handled) return reply
  return reply
    .code(status ?? 500)
    .headers({
      'content-type': 'application/json; charset=UTF-8',
      'facebook-api-version': (request.params as { version: string }).version,
      ...usageHeaders(code),
    })
    .send(escapedJson(body))
}

/** The usage headers: 100 % and one minute to wait after a rate limit error, 1 % otherwise. */
function usageHeaders(code: number): Record<string, string> {
  const used = code === 4 || code === 80007 ? 100 : 1
  const usage = { call_count: used, total_cputime: used, total_time: used }
  const business = { type: 'messaging', ...usage, estimated_time_to_regain_access: used === 100 ? 1 : 0 }
  return {
    'x-app-usage': JSON.stringify(usage),
    ...(code === 80007 ? { 'x-business-use-case-usage': JSON.stringify({ [newObjectId(1)]: [business] }) } : {}),
  }
}

async function run(network: Network, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const params = request.params as { version: string; id: string; edge?: string }
  const token = authenticate(network, tokenText(request))
  if (request.method === 'GET' && params.id === 'debug_token' && params.edge === undefined) {
    return debugToken(network, token, queryOf(request).input_token)
  }
  const kind = findNode(network.world, token, params.id)
  if (!kind) return refuseUnknownObject(request.method, params.id)
  const name = params.edge ?? null
  const row = edges.find((e) => e.method === request.method && e.node === kind && e.edge === name)
  if (!row && name === null) return refuseUnknownObject(request.method, params.id)
  if (!row) return refuseParameter(`Tried accessing nonexisting field (${name})`)
  requirePermission(token, row)
  const { body, form } = await readBody(request)
  const query = queryOf(request)
  return row.handle(
    { network, method: request.method, version: params.version, token, query, body, form, reply },
    params.id,
  )
}

function queryOf(request: FastifyRequest): Record<string, string> {
  const query: Record<string, string> = {}
  for (const [key, value] of Object.entries(request.query as Record<string, unknown>))
    if (typeof value === 'string') query[key] = value
    else if (Array.isArray(value)) query[key] = String(value.at(-1))
  return query
}

function loggedBody(request: FastifyRequest): string {
  if (!Buffer.isBuffer(request.body)) return ''
  const type = request.headers['content-type'] ?? ''
  return type.startsWith('multipart/')
    ? `(${request.body.length} bytes of ${type.split(';')[0]})`
    : request.body.toString('utf8')
}
