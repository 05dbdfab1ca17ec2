import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { newUuid, withPrefix } from '../lib/ids.ts'
import type { Logger } from '../lib/logger.ts'
import { refuse } from '../lib/refuse.ts'
import type { Bodies } from './bodies.ts'
import type { ClientTimeouts } from './client-timeouts.ts'
import { errorResponse, jsonType } from './errors.ts'

export interface IngressOptions {
  publicUrl: string
  log: Logger
  timeouts: ClientTimeouts
  bodies: Bodies
  verifyHandshake(appId: string, queryString: string): Promise<string | null>
  /** Refuses a webhook that its headers already rule out; a promise only if the database has to be asked. */
  screen(appId: string, signature: string | string[] | undefined): Promise<void> | undefined
  receive(appId: string, body: Buffer, signature: string | string[] | undefined): Promise<void>
}

const start = '/network/whatsapp/'
const rest = /^([^/?#%]+)(?:\?(.*))?$/

export const isForIngress = ({ url = '' }: IncomingMessage): boolean => url.startsWith(start)

/** Where the network posts: the bytes of the body are handed on untouched, for they are what was signed. */
export function newIngressListener(options: IngressOptions): RequestListener {
  return (request, response) => {
    answer(options, request, response).catch((error) => answerError(options, request, response, error))
  }
}

async function answer(options: IngressOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, appId, query = ''] = rest.exec((request.url ?? '').slice(start.length)) ?? []
  if (appId !== undefined && request.method === 'POST') {
    await takeWebhook(options, appId, request)
    response.writeHead(200, ['content-length', '0']).end()
  } else if (appId !== undefined && request.method === 'GET') {
    const challenge = await options.verifyHandshake(appId, query)
    sendText(response, challenge === null ? 403 : 200, challenge ?? 'The verify token is wrong.')
  } else refuse('not_found')
}

async function takeWebhook(options: IngressOptions, appId: string, request: IncomingMessage): Promise<void> {
  const { bodies, timeouts } = options
  const signature = request.headers['x-hub-signature-256']
  try {
    const screened = options.screen(appId, signature)
    if (screened) await screened
    await options.receive(appId, await bodies.read(request, 'network', timeouts.bodyMs), signature)
  } finally {
    bodies.release(request)
  }
}

function answerError(
  { publicUrl, log }: IngressOptions,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  const requestId = withPrefix('req', newUuid())
  const { status, headers, body } = errorResponse(error, { requestId, route: `${start}:app`, publicUrl, log })
  // What was not read of the body is not waited for.
  if (!request.complete) response.shouldKeepAlive = false
  const length = Buffer.byteLength(body)
  const own = { 'X-Request-Id': requestId, 'Content-Type': jsonType, 'Content-Length': length }
  response.writeHead(status, { ...headers, ...own }).end(body)
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.statusCode = status
  response.end(text)
}
