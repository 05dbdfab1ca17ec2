/** The adapter for everything that takes a `Request` and returns a `Response`: workers, Deno, Bun, Next.js, Remix and others. */
import { GrowingBytes } from './growing-bytes.ts'
import { BodyTooLarge, type EventHandler, newReceiver, type ReceiveOptions, type ReceiverResponse } from './receive.ts'
import { WebhookVerificationError } from './verify.ts'

export type { EventHandler, ReceiveOptions } from './receive.ts'
export { newSeenEvents, type SeenEvents } from './seen.ts'
export type { ParleyEvent } from './verify.ts'

/** `export const POST = parleyWebhook(secret, async (event) => { … })` */
export function parleyWebhook(
  secret: string | readonly string[],
  handler: EventHandler,
  options: ReceiveOptions = {},
): (request: Request) => Promise<Response> {
  const { maxBytes, receive } = newReceiver(secret, handler, options)
  return async (request) => responseOf(await receive(request.headers, () => readRequest(request, maxBytes)))
}

export async function readRequest(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (request.bodyUsed) {
    throw new WebhookVerificationError(
      'body_not_raw',
      'The body was read before it could be verified. Pass the unread request, or a clone() made before it was read.',
    )
  }
  const reader = request.body?.getReader()
  if (!reader) return new Uint8Array()
  const collected = new GrowingBytes()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return collected.bytes
    if (collected.size + value.length > maxBytes) {
      await reader.cancel().catch(() => {})
      throw new BodyTooLarge(maxBytes)
    }
    collected.append(value)
  }
}

export function responseOf({ status, body }: ReceiverResponse): Response {
  return new Response(body, body === null ? { status } : { status, headers: { 'content-type': 'application/json' } })
}
