/**
 * Shared by the adapters. Verifies a delivery, calls the handler and responds: 204 after the handler has finished (or before it
 * starts), 400 with a reason if verification fails, 413 if the body is too large, 500 if the handler throws. Parley retries
 * after any status other than 2xx and shows the response in its console.
 */
import { newSeenEvents, readSeen, type SeenEvents } from './seen.ts'
import {
  type ParleyEvent,
  readSecrets,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './verify.ts'

/**
 * Must finish within ten seconds, unless events are acknowledged before. The same event may arrive more than once, with
 * the same `id`; `seen` drops the repeated ones.
 */
export type EventHandler = (event: ParleyEvent) => unknown

export interface ReceiveOptions extends Pick<VerifyOptions, 'toleranceSeconds'> {
  /** The maximum size of the body in bytes. Default: 1 MiB. */
  maxBytes?: number | undefined
  /**
   * When to respond: after the handler has finished, or before it starts. Parley does not retry an event that was
   * acknowledged: if its handler then fails, `onError` is called and its ID is forgotten, so that you can send it again from
   * the console or with a replay. Default: after.
   */
  acknowledge?: 'after' | 'before' | undefined
  /** Drops events whose ID it knows. Default: the last 10,000 IDs in memory. Null: every delivery is handled. */
  seen?: SeenEvents | null | undefined
  /**
   * Keeps a worker alive until a handler has finished that runs after the response, such as `waitUntil` of
   * `cloudflare:workers` or of `@vercel/functions`. Not needed where a server keeps running.
   */
  waitUntil?: ((handled: Promise<void>) => void) | undefined
  /** Called for each delivery that was rejected or whose handler threw, then with its event. Default: logs to the console. */
  onError?: ((error: unknown, event?: ParleyEvent) => unknown) | undefined
}

export interface ReceiverResponse {
  status: number
  /** JSON, or null for no body. */
  body: string | null
}

export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`)
  }
}

export interface Receiver {
  maxBytes: number
  /** `readBody` returns the bytes, or the parsed body if a parser ran before. */
  receive(headers: WebhookHeaders, readBody: () => unknown): Promise<ReceiverResponse>
}

export function newReceiver(
  secret: string | readonly string[],
  handler: EventHandler,
  options: ReceiveOptions = {},
): Receiver {
  const { maxBytes = 1024 * 1024, onError = logError, toleranceSeconds, acknowledge = 'after', waitUntil } = options
  const seen = readSeen(options.seen === undefined ? newSeenEvents() : options.seen)
  const secrets = readSecrets(secret)
  if (typeof handler !== 'function')
    throw new TypeError('The handler is missing: pass a function that takes the event.')

  if (acknowledge !== 'after' && acknowledge !== 'before') {
    throw new TypeError(`Invalid acknowledge "${acknowledge}": use "after" or "before".`)
  }
  /** The events of `seen` that are being handled, with the response to come. */
  const handling = new Map<string, Promise<ReceiverResponse>>()

  /** An error of `onError` must not keep the response from Parley, or end the program. */
  function report(error: unknown, event?: ParleyEvent): void {
    const reporting = async () => onError(error, event)
    reporting().catch((own: unknown) => console.error(own))
  }

  function reject(
    status: number,
    reason: string,
    message: string,
    error: unknown,
    event?: ParleyEvent,
  ): ReceiverResponse {
    report(error, event)
    return { status, body: JSON.stringify({ error: { reason, message } }) }
  }

  const failed = (error: unknown, event: ParleyEvent) =>
    reject(500, 'handler_failed', 'The receiver failed to handle the event.', error, event)

  async function respond(event: ParleyEvent): Promise<ReceiverResponse> {
    try {
      if (acknowledge === 'before') {
        if (!seen || (await seen.add(event.id))) handleLater(event)
        return acknowledged
      }
      if (await seen?.has(event.id)) return acknowledged
      await handler(event)
      await seen?.add(event.id)
      return acknowledged
    } catch (error) {
      return failed(error, event)
    }
  }

  /** The timer runs after the adapter has passed on the response. */
  function handleLater(event: ParleyEvent): void {
    const handled = new Promise<void>((resolve) => setTimeout(resolve, 0))
      .then(() => handler(event))
      .then(
        () => {},
        (error: unknown) => failLater(error, event),
      )
    waitUntil?.(handled)
  }

  /** Forgets the ID first, so that `onError` can already ask for the event again. */
  async function failLater(error: unknown, event: ParleyEvent): Promise<void> {
    const errors = [error]
    try {
      await seen?.delete(event.id)
    } catch (storeError) {
      errors.push(storeError)
    }
    for (const each of errors) report(each, event)
  }

  /** A repeated event gets the response of the first one, which may still fail. */
  async function respondOnce(event: ParleyEvent): Promise<ReceiverResponse> {
    const first = handling.get(event.id)
    if (first) return first
    const response = respond(event)
    handling.set(event.id, response)
    try {
      return await response
    } finally {
      handling.delete(event.id)
    }
  }

  return {
    maxBytes,
    async receive(headers, readBody) {
      let event: ParleyEvent
      try {
        // It may be something else than bytes; verifyWebhook then rejects it as body_not_raw.
        const body = (await readBody()) as Uint8Array
        if (body?.length > maxBytes) throw new BodyTooLarge(maxBytes)
        event = await verifyWebhook(body, headers, secrets, { toleranceSeconds })
      } catch (error) {
        if (error instanceof WebhookVerificationError) return reject(400, error.reason, error.message, error)
        if (error instanceof BodyTooLarge) return reject(413, 'body_too_large', error.message, error)
        return reject(400, 'body_not_read', 'The body did not arrive completely.', error)
      }
      return seen ? respondOnce(event) : respond(event)
    },
  }
}

const acknowledged: ReceiverResponse = { status: 204, body: null }

/** A rejected delivery is one line, because anyone can cause many of them. An error of the handler has its stack trace. */
function logError(error: unknown): void {
  const isRejected = error instanceof WebhookVerificationError || error instanceof BodyTooLarge
  console.error(isRejected ? `Delivery rejected: ${error.message}` : error)
}
