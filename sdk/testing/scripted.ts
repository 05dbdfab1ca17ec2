import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** Starts a server for one test and returns its URL. */
export async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export interface ReceivedRequest {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

type Act = (response: ServerResponse, request: ReceivedRequest) => void

/** A server that handles each request with the next act, and all further ones with the last act. */
export async function serveScript(...acts: [Act, ...Act[]]): Promise<{ baseUrl: string; requests: ReceivedRequest[] }> {
  const requests: ReceivedRequest[] = []
  const baseUrl = await serve(async (request, response) => {
    const { method = '', url = '', headers } = request
    const received = { method, url, headers, body: await text(request) }
    const act = acts[Math.min(requests.length, acts.length - 1)] as Act
    requests.push(received)
    act(response, received)
  })
  return { baseUrl, requests }
}

export const respond =
  (status: number, body: unknown, headers: Record<string, string> = {}): Act =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

export const fails = (status: number, code: string, headers: Record<string, string> = {}, more: object = {}): Act =>
  respond(status, { error: { type: 'a_type', code, message: `It is ${code}.`, request_id: 'req_1', ...more } }, headers)

export const hangsUp: Act = (response) => response.destroy()
export const neverResponds: Act = () => {}
