/**
 * Shared by the adapters. Verifies a delivery, calls the handler and responds: 204 after the handler has finished, 400 with a
 * reason if verification fails, 413 if the body is too large, 500 if the handler throws. Parley retries after any status other
 * than 2xx and shows the response in its console.
 */
import {
  type ParleyEvent,
  readSecrets,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './verify.ts'

/** Must finish within ten seconds. The same event may arrive more than once, with the same `id`. */
export type EventHandler = (event: ParleyEvent) => unknown

export interface ReceiveOptions extends Pick<VerifyOptions, 'toleranceSeconds'> {
  /** The maximum size of the body in bytes. Default: 1 MiB. */
  maxBytes?: number | undefined
  /** Called for each delivery that was rejected or whose handler threw. Default: logs to the console. */
  onError?: ((error: unknown) => void) | undefined
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
  { maxBytes = 1024 * 1024, onError = logError, toleranceSeconds }: ReceiveOptions = {},
): Receiver {
  const secrets = readSecrets(secret)
  if (typeof handler !== 'function')
    throw new TypeError('The handler is missing: pass a function that takes the event.')

  function reject(status: number, reason: string, message: string, error: unknown): ReceiverResponse {
    onError(error)
    return { status, body: JSON.stringify({ error: { reason, message } }) }
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
      try {
        await handler(event)
        return { status: 204, body: null }
      } catch (error) {
        return reject(500, 'handler_failed', 'The receiver failed to handle the event.', error)
      }
    },
  }
}

/** A rejected delivery is one line, because anyone can cause many of them. An error of the handler has its stack trace. */
function logError(error: unknown): void {
  const isRejected = error instanceof WebhookVerificationError || error instanceof BodyTooLarge
  console.error(isRejected ? `Delivery rejected: ${error.message}` : error)
}
