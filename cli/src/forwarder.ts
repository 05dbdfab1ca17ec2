import { headersOf } from '@parley/server/domain/deliveries/engine/attempt'
import { signingKeysOf } from '@parley/server/domain/deliveries/engine/signature'
import { version } from '@parley/server/lib/version'
import { eventLine } from './event-line.ts'

/** As a webhook waits for a response. */
const responseMs = 10_000

interface Taken {
  id: string
  type: string
  body: Buffer
}

/** Prints events and sends them to a URL, one at a time. */
export class Forwarder {
  readonly #url: string | null
  readonly #keys: readonly ReturnType<typeof signingKeysOf>[]
  readonly #asJson: boolean
  #last: Taken | null = null
  #working: Promise<void> = Promise.resolve()

  constructor(url: string | null, secret: string, asJson: boolean) {
    this.#url = url
    this.#keys = [signingKeysOf(secret)]
    this.#asJson = asJson
  }

  take(body: Buffer): Promise<void> {
    const { id, type } = JSON.parse(body.toString()) as { id: string; type: string }
    this.#last = { id, type, body }
    return this.#next({ id, type, body })
  }

  /** Sends the last event again. */
  repeat(): void {
    if (this.#last && this.#url) void this.#next(this.#last)
  }

  #next(event: Taken): Promise<void> {
    this.#working = this.#working.then(() => this.#handle(event))
    return this.#working
  }

  async #handle({ id, type, body }: Taken): Promise<void> {
    const at = new Date()
    const sent = this.#url === null ? null : await this.#forward(this.#url, { id, type, body }, at)
    if (this.#asJson) {
      console.log(JSON.stringify({ at, ...(sent && { forwarded: sent }), event: JSON.parse(body.toString()) }))
    } else console.log(eventLine({ at, type, id, sent }))
  }

  async #forward(url: string, { id, type, body }: Taken, at: Date) {
    const began = performance.now()
    const flat = headersOf(this.#keys, { eventId: id, type, body }, at, `Parley/${version}`)
    const headers = Array.from(
      { length: flat.length / 2 },
      (_, n) => [flat[2 * n], flat[2 * n + 1]] as [string, string],
    )
    const post = { method: 'POST', headers, body, redirect: 'manual', signal: AbortSignal.timeout(responseMs) } as const
    const result = await fetch(url, post).then(
      async (response) => {
        await response.body?.cancel()
        return { status: response.status as number | null, error: null as string | null }
      },
      (error: Error & { cause?: Error }) => ({ status: null, error: error.cause?.message || error.message }),
    )
    return { ...result, duration_ms: Math.round(performance.now() - began) }
  }
}
