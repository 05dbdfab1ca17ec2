import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Receives deliveries and records when the message with each number first arrived. `GET /` returns the times by number, in
 * milliseconds since 1970, and how many deliveries were repeated, and resets both.
 */
export async function startReceiver(): Promise<number> {
  let arrivals: number[] = []
  let repeats = 0
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      response.end(JSON.stringify({ arrivals, repeats }))
      arrivals = []
      repeats = 0
      return
    }
    let body = ''
    request.setEncoding('latin1').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      response.end('ok')
      const at = body.indexOf('number:') + 7
      const number = Number(body.slice(at, body.indexOf(';', at)))
      if (arrivals[number] === undefined) arrivals[number] = performance.timeOrigin + performance.now()
      else repeats++
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}
