import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type ParleyEvent, verifyWebhook } from '@parley/sdk'
import { until } from './until.ts'

/** Handles a verified event. If it throws, Parley gets a 500 and retries. */
export type EndpointHandler = (event: ParleyEvent) => unknown

/** A webhook of the workspace that a test receives. */
export interface TestEndpoint {
  /** Its ID in Parley. */
  readonly id: string
  readonly url: string
  /** Signs its deliveries. */
  readonly secret: string
  /** The verified events that arrived, oldest first. Always empty for a server of your own. */
  readonly events: readonly ParleyEvent[]
  /** The next event of this type that was not returned before. Waits for it, for ten seconds by default. */
  next(type: ParleyEvent['type'], options?: { withinMs?: number }): Promise<ParleyEvent>
}

export interface EndpointOptions {
  /** Default: all events of messages and forms. */
  events?: ParleyEvent['type'][]
}

/** A webhook in Parley. */
interface CreatedWebhook {
  id: string
  secret: string
}

export interface WebhookCommands {
  create(url: string, events: readonly string[]): Promise<CreatedWebhook>
  remove(id: string): Promise<unknown>
}

/**
 * The webhooks of a test. Creating one takes longer than most tests, so the receivers of handlers are used again by the
 * tests that follow, unless Parley may have counted a failure.
 */
export class Endpoints {
  readonly #commands: WebhookCommands
  readonly #receivers: Receiver[] = []
  /** Webhooks of servers that are not ours. */
  readonly #own: string[] = []

  constructor(commands: WebhookCommands) {
    this.#commands = commands
  }

  async open(handler: EndpointHandler | string, options: EndpointOptions = {}): Promise<TestEndpoint> {
    const { events: types } = options
    if (typeof handler === 'string') {
      const { id, secret } = await this.#commands.create(handler, types ?? usualEvents)
      this.#own.push(id)
      return { id, url: handler, secret, events: [], next: newNext([]) }
    }
    const key = types?.toSorted().join(' ') ?? ''
    const receiver =
      this.#receivers.find((each) => each.handler === null && each.key === key) ?? (await this.#create(key, types))
    const events: ParleyEvent[] = []
    receiver.handler = (event) => {
      events.push(event)
      return handler(event)
    }
    const { id, url, secret } = receiver
    return { id, url, secret, events, next: newNext(events) }
  }

  async #create(key: string, types: readonly string[] = usualEvents): Promise<Receiver> {
    const receiver = await startReceiver(key)
    Object.assign(receiver, await this.#commands.create(receiver.url, types))
    this.#receivers.push(receiver)
    return receiver
  }

  /** No handler gets an event after this. */
  async reset(): Promise<void> {
    for (const receiver of [...this.#receivers]) {
      receiver.handler = null
      if (!receiver.hasFailed) continue
      this.#receivers.splice(this.#receivers.indexOf(receiver), 1)
      await this.#commands.remove(receiver.id)
      receiver.close()
    }
    for (const id of this.#own.splice(0)) await this.#commands.remove(id)
  }

  close(): void {
    for (const receiver of this.#receivers) receiver.close()
  }
}

interface Receiver extends CreatedWebhook {
  url: string
  /** The event types of its webhook. */
  key: string
  /** Null: events are acknowledged and ignored. */
  handler: EndpointHandler | null
  hasFailed: boolean
  close(): void
}

/** Receives deliveries on a free port, verifies each one and passes it to its handler. */
async function startReceiver(key: string): Promise<Receiver> {
  const receiver: Receiver = { id: '', secret: '', url: '', key, handler: null, hasFailed: false, close: () => {} }
  const receive = async (request: IncomingMessage): Promise<void> => {
    const body = await buffer(request)
    // The clock of the service may have been moved, so its time is not checked.
    const event = await verifyWebhook(body, request.headers, receiver.secret, { toleranceSeconds: 1e10 })
    await receiver.handler?.(event)
  }
  const server = createServer((request, response) => {
    receive(request).then(
      () => response.writeHead(204).end(),
      (error: unknown) => {
        receiver.hasFailed = true
        response.writeHead(500, { 'content-type': 'text/plain' }).end(String(error))
      },
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // It must not keep a test run alive that forgot to stop.
  server.unref()
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  receiver.close = () => server.close()
  return receiver
}

/** Returns each event of a type once. */
function newNext(events: readonly ParleyEvent[]): TestEndpoint['next'] {
  const returned = new Set<ParleyEvent>()
  return async (type, { withinMs = 10_000 } = {}) => {
    const event = await until(`an event ${type}`, withinMs, async () =>
      events.find((each) => each.type === type && !returned.has(each)),
    )
    returned.add(event)
    return event
  }
}

const usualEvents = [
  'message.received',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'flow.completed',
]
