/**
 * What the adapters share. A delivery is verified, handed to the handler, and answered: 204 once the handler is done, 400 with
 * a reason if it is not to be trusted, 413 if it is too large, 500 if the handler failed. The service tries again after
 * anything but 2xx, and shows the answer in its console.
 */
import {
  type ParleyEvent,
  readSecrets,
  type VerifyOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './verify.ts'

/** Must be done within ten seconds; the same event may come more than once, with the same `id`. */
export type EventHandler = (event: ParleyEvent) => unknown

export interface ReceiveOptions extends Pick<VerifyOptions, 'toleranceSeconds'> {
  /** The largest body that is read, in bytes. 1 MiB if left out. */
  maxBytes?: number | undefined
  /** Told of each delivery that was not taken: refused, or failed in the handler. Writes to the console if left out. */
  onError?: ((error: unknown) => void) | undefined
}

export interface ReceiverResponse {
  status: number
  /** JSON, or null for an answer without a body. */
  body: string | null
}

export class BodyTooLarge extends Error {
  constructor(maxBytes: number) {
    super(`The body is larger than ${maxBytes} bytes.`)
  }
}

export interface Receiver {
  maxBytes: number
  /** `readBody` gives the bytes, or what stands in their place if something parsed them. */
  receive(headers: WebhookHeaders, readBody: () => unknown): Promise<ReceiverResponse>
}

export function newReceiver(
  secret: string | readonly string[],
  handler: EventHandler,
  { maxBytes = 1024 * 1024, onError = complain, toleranceSeconds }: ReceiveOptions = {},
): Receiver {
  const secrets = readSecrets(secret)
  if (typeof handler !== 'function')
    throw new TypeError('The handler is missing: give a function that takes the event.')

  function refuse(status: number, reason: string, message: string, error: unknown): ReceiverResponse {
    onError(error)
    return { status, body: JSON.stringify({ error: { reason, message } }) }
  }

  return {
    maxBytes,
    async receive(headers, readBody) {
      let event: ParleyEvent
      try {
        // Whatever it is: what is not raw is refused with a reason.
        const body = (await readBody()) as Uint8Array
        if (body?.length > maxBytes) throw new BodyTooLarge(maxBytes)
        event = await verifyWebhook(body, headers, secrets, { toleranceSeconds })
      } catch (error) {
        if (error instanceof WebhookVerificationError) return refuse(400, error.reason, error.message, error)
        if (error instanceof BodyTooLarge) return refuse(413, 'body_too_large', error.message, error)
        return refuse(400, 'body_not_read', 'The body did not arrive completely.', error)
      }
      try {
        await handler(event)
        return { status: 204, body: null }
      } catch (error) {
        return refuse(500, 'handler_failed', 'The receiver failed to handle the event.', error)
      }
    },
  }
}

/** Anybody can make us refuse something, so a refusal is one line; what broke in the handler is shown whole. */
function complain(error: unknown): void {
  const isRefusal = error instanceof WebhookVerificationError || error instanceof BodyTooLarge
  console.error(isRefusal ? `A delivery was refused: ${error.message}` : error)
}
