import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A server for one test; gives its address. */
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

type Act = (response: ServerResponse, heard: ReceivedRequest) => void

/** A server that does one act after the other, the last one for good. */
export async function serveScript(...acts: [Act, ...Act[]]): Promise<{ baseUrl: string; heard: ReceivedRequest[] }> {
  const heard: ReceivedRequest[] = []
  const baseUrl = await serve(async (request, response) => {
    const { method = '', url = '', headers } = request
    const one = { method, url, headers, body: await text(request) }
    const act = acts[Math.min(heard.length, acts.length - 1)] as Act
    heard.push(one)
    act(response, one)
  })
  return { baseUrl, heard }
}

export const responses =
  (status: number, body: unknown, headers: Record<string, string> = {}): Act =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

export const refuses = (status: number, code: string, headers: Record<string, string> = {}, more: object = {}): Act =>
  responses(
    status,
    { error: { type: 'a_type', code, message: `It is ${code}.`, request_id: 'req_1', ...more } },
    headers,
  )

export const hangsUp: Act = (response) => response.destroy()
export const neverResponds: Act = () => {}
