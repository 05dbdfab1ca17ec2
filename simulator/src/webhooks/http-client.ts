import { Agent, request } from 'undici'
import { GrowingBuffer } from '../growing-buffer.ts'

export type HttpResult = { kind: 'response'; status: number; body: string } | { kind: 'unreachable'; reason: string }

/** Sends requests to callbacks and media links. It has its own pool, so that `close` ends every connection. */
export class HttpClient {
  #agent = new Agent({ connect: { timeout: 5_000 }, keepAliveTimeout: 10_000, connections: 64 })

  async post(url: string, headers: Record<string, string>, body: Buffer, timeoutMs: number): Promise<HttpResult> {
    return this.#send(url, { method: 'POST', headers, body }, timeoutMs)
  }

  async get(url: string, timeoutMs: number): Promise<HttpResult> {
    return this.#send(url, { method: 'GET', headers: { 'user-agent': 'facebookplatform/1.0' } }, timeoutMs)
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  async #send(
    url: string,
    options: { method: 'GET' | 'POST'; headers: Record<string, string>; body?: Buffer },
    timeoutMs: number,
  ): Promise<HttpResult> {
    try {
      const response = await request(url, {
        ...options,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(timeoutMs),
      })
      return { kind: 'response', status: response.statusCode, body: await readStart(response.body) }
    } catch (error) {
      return { kind: 'unreachable', reason: error instanceof Error ? error.message || error.name : String(error) }
    }
  }
}

const maxResponseBytes = 16_384

async function readStart(body: AsyncIterable<Buffer>): Promise<string> {
  const start = new GrowingBuffer()
  for await (const part of body) {
    start.append(part)
    if (start.size > maxResponseBytes) break
  }
  return start.bytes.subarray(0, maxResponseBytes).toString('utf8')
}
