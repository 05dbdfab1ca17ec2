/** The adapter for Hono. */
import { readRequest, responseOf } from './fetch.ts'
import { type EventHandler, newReceiver, type ReceiveOptions } from './receive.ts'

export type { EventHandler, ReceiveOptions } from './receive.ts'
export { newSeenEvents, type SeenEvents } from './seen.ts'
export type { ParleyEvent } from './verify.ts'

/** The parts of Hono's context that are used. Declared here, so that Hono does not have to be installed. */
export interface HonoContext {
  req: { raw: Request; text(): Promise<string> }
}

/** `app.post('/hooks/parley', parleyWebhook(secret, async (event) => { … }))` */
export function parleyWebhook(
  secret: string | readonly string[],
  handler: EventHandler,
  options: ReceiveOptions = {},
): (context: HonoContext) => Promise<Response> {
  const { maxBytes, receive } = newReceiver(secret, handler, options)
  return async ({ req }) => {
    // Hono caches the text of a body that a middleware has read.
    const readBody = () => (req.raw.bodyUsed ? req.text() : readRequest(req.raw, maxBytes))
    return responseOf(await receive(req.raw.headers, readBody))
  }
}
