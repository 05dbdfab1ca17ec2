import type { IncomingMessage, ServerResponse } from 'node:http'
import { addressBlock } from '../lib/addresses.ts'
import { newUuid, withPrefix } from '../lib/ids.ts'
import type { Logger } from '../lib/logger.ts'
import type { Overload } from '../lib/overload.ts'
import { Refusal, refuse } from '../lib/refuse.ts'
import type { Bodies } from './bodies.ts'
import type { ClientTimeouts } from './client-timeouts.ts'
import { errorResponse, jsonType } from './errors.ts'
import type { NetworkSenders } from './network-senders.ts'

export interface IngressOptions {
  publicUrl: string
  log: Logger
  timeouts: ClientTimeouts
  bodies: Bodies
  senders: NetworkSenders
  overload: Overload
  addressOf(request: IncomingMessage): string
  verifyHandshake(appId: string, queryString: string): Promise<string | null>
  /** Rejects a webhook by its headers, before its body is read. Returns a promise only if it needs the database. */
  screen(appId: string, signature: string | string[] | undefined): Promise<void> | undefined
  receive(appId: string, body: Buffer, signature: string | string[] | undefined): Promise<void>
}

const pathPrefix = '/network/whatsapp/'
const appAndQuery = /^([^/?#%]+)(?:\?(.*))?$/

export const isForIngress = ({ url = '' }: IncomingMessage): boolean => url.startsWith(pathPrefix)

/** The endpoint for WhatsApp's webhooks. The body is passed on as raw bytes, because those are what is signed. */
export function newIngressListener(options: IngressOptions) {
  return (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    handle(options, request, response).catch((error) => sendError(options, request, response, error))
}

async function handle(options: IngressOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, appId, query = ''] = appAndQuery.exec((request.url ?? '').slice(pathPrefix.length)) ?? []
  if (appId !== undefined && request.method === 'POST') {
    await receiveWebhook(options, appId, request)
    response.writeHead(200, ['content-length', '0']).end()
  } else if (appId !== undefined && request.method === 'GET') {
    const challenge = await options.verifyHandshake(appId, query)
    sendText(response, challenge === null ? 403 : 200, challenge ?? 'The verify token is wrong.')
  } else refuse('not_found')
}

async function receiveWebhook(options: IngressOptions, appId: string, request: IncomingMessage): Promise<void> {
  const { bodies, senders, timeouts } = options
  const signature = request.headers['x-hub-signature-256']
  const address = options.addressOf(request)
  const block = addressBlock(address)
  if (!senders.mayRead(appId, block, contentLengthOf(request))) {
    throw options.overload.refusal('invalid_signatures', address, { Connection: 'close' })
  }
  let size = 0
  try {
    const screened = options.screen(appId, signature)
    if (screened) await screened
    const body = await bodies.read(request, senders.bodySourceOf(block), timeouts.bodyMs)
    size = body.length
    await options.receive(appId, body, signature)
    senders.addVerified(block)
  } catch (error) {
    // A refusal without a body has cost little.
    if (size > 0 && error instanceof Refusal && error.code === 'invalid_key') senders.addWrong(appId, block, size)
    throw error
  } finally {
    bodies.release(request)
  }
}

/** Infinite for a chunked body, whose length is unknown. */
function contentLengthOf({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Number.POSITIVE_INFINITY
}

function sendError(
  { publicUrl, log }: IngressOptions,
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
): void {
  const requestId = withPrefix('req', newUuid())
  const { status, headers, body } = errorResponse(error, { requestId, route: `${pathPrefix}:app`, publicUrl, log })
  // Close the connection instead of waiting for the rest of the body.
  if (!request.complete) response.shouldKeepAlive = false
  const length = Buffer.byteLength(body)
  const common = { 'X-Request-Id': requestId, 'Content-Type': jsonType, 'Content-Length': length }
  response.writeHead(status, { ...headers, ...common }).end(body)
}

function sendText(response: ServerResponse, status: number, text: string): void {
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.statusCode = status
  response.end(text)
}
