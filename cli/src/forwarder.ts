import { headersOf } from '@parley/server/domain/deliveries/engine/attempt/attempt'
import { signingKeysOf } from '@parley/server/domain/deliveries/engine/attempt/signature'
import { version } from '@parley/server/lib/version'
import { eventLine, type Sent } from './event-line.ts'
import { printJson, say } from './print.ts'

/** As a webhook waits for a response. */
const responseMs = 10_000

interface Taken {
  id: string
  type: string
  body: Buffer
}

export interface ForwarderOptions {
  /** Null: it only prints. */
  url: string | null
  secret: string
  stopped: AbortSignal
  asJson: boolean
  /** Prints what is not an event. */
  say(line: string): void
}

/** Prints events and sends them to a URL, one at a time. */
export class Forwarder {
  readonly #options: ForwarderOptions
  readonly #keys: readonly ReturnType<typeof signingKeysOf>[]
  #last: Taken | null = null
  #working: Promise<void> = Promise.resolve()

  constructor(options: ForwarderOptions) {
    this.#options = options
    this.#keys = [signingKeysOf(options.secret)]
  }

  take(body: Buffer): Promise<void> {
    const { id, type } = JSON.parse(body.toString()) as { id: string; type: string }
    this.#last = { id, type, body }
    return this.#next({ id, type, body })
  }

  /** Sends the last event again. */
  repeat(): void {
    if (this.#options.url === null) return
    if (this.#last) void this.#next(this.#last)
    else this.#options.say('There was no event yet.')
  }

  #next(event: Taken): Promise<void> {
    this.#working = this.#working.then(() => this.#handle(event))
    return this.#working
  }

  async #handle(event: Taken): Promise<void> {
    const { url, asJson, stopped } = this.#options
    const at = new Date()
    const sent = url === null ? null : await this.#forward(url, event, at)
    // It did not wait for the response.
    if (stopped.aborted && sent?.error) return
    const { id, type, body } = event
    if (asJson) printJson({ at, ...(sent && { forwarded: sent }), event: JSON.parse(body.toString()) })
    else say(eventLine({ at, type, id, sent }))
  }

  async #forward(url: string, { id, type, body }: Taken, at: Date): Promise<Sent> {
    const began = performance.now()
    const flat = headersOf(this.#keys, { eventId: id, type, body }, at, `Parley/${version}`)
    const headers = Array.from(
      { length: flat.length / 2 },
      (_, n) => [flat[2 * n], flat[2 * n + 1]] as [string, string],
    )
    const signal = AbortSignal.any([this.#options.stopped, AbortSignal.timeout(responseMs)])
    const result = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal }).then(
      async (response) => {
        await response.body?.cancel()
        return { status: response.status, error: null, location: response.headers.get('location') }
      },
      (error: Error) => ({ status: null, error: reasonOf(error), location: null }),
    )
    return { ...result, duration_ms: Math.round(performance.now() - began) }
  }
}

function reasonOf({ name, message, cause }: Error): string {
  if (name === 'TimeoutError') return `no response within ${responseMs / 1000} seconds`
  const { message: reason, code } = (cause ?? {}) as { message?: string; code?: string }
  // If localhost has two addresses and both refuse, there is only a code.
  return reason || code || message
}
