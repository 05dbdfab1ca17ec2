import { Agent, request } from 'undici'
import { GrowingBuffer } from '../growing-buffer.ts'

export type Answer = { kind: 'answered'; status: number; body: string } | { kind: 'unreachable'; why: string }

/** The way out to callbacks. One pool, so that stopping the simulator cuts every connection at once. */
export class Outlet {
  #agent = new Agent({ connect: { timeout: 5_000 }, keepAliveTimeout: 10_000, connections: 64 })

  async post(url: string, headers: Record<string, string>, body: Buffer, timeoutMs: number): Promise<Answer> {
    return this.#ask(url, { method: 'POST', headers, body }, timeoutMs)
  }

  async get(url: string, timeoutMs: number): Promise<Answer> {
    return this.#ask(url, { method: 'GET', headers: { 'user-agent': 'facebookplatform/1.0' } }, timeoutMs)
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  async #ask(
    url: string,
    options: { method: 'GET' | 'POST'; headers: Record<string, string>; body?: Buffer },
    timeoutMs: number,
  ): Promise<Answer> {
    try {
      const response = await request(url, {
        ...options,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(timeoutMs),
      })
      return { kind: 'answered', status: response.statusCode, body: await firstPart(response.body) }
    } catch (error) {
      return { kind: 'unreachable', why: error instanceof Error ? error.message || error.name : String(error) }
    }
  }
}

const longestAnswer = 16_384

async function firstPart(body: AsyncIterable<Buffer>): Promise<string> {
  const start = new GrowingBuffer()
  for await (const part of body) {
    start.append(part)
    if (start.size > longestAnswer) break
  }
  return start.bytes.subarray(0, longestAnswer).toString('utf8')
}
