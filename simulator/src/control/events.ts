import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Control } from './control.ts'

const keepAliveMs = 15_000
/** How soon a browser reconnects after a restart. */
const retryMs = 1_000

/** Streams `wire`, `message`, `status`, `phone`, `template` and `reset` events as they happen. */
export function streamEvents(control: Control, request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack()
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    connection: 'keep-alive',
  })
  reply.raw.write(`retry: ${retryMs}\n: listening\n\n`)
  const stopListening = control.log.listen((event) => {
    reply.raw.write(`event: ${event.name}\ndata: ${JSON.stringify(event.data)}\n\n`)
  })
  const keepAlive = setInterval(() => reply.raw.write(': keep-alive\n\n'), keepAliveMs)
  request.raw.once('close', () => {
    stopListening()
    clearInterval(keepAlive)
  })
}
