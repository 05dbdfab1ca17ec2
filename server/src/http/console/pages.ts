import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { pageHeaders } from '../page-headers.ts'

const built = join(import.meta.dirname, '..', '..', '..', '..', 'console', 'dist')

/**
 * Only own resources. Scripts and styles are allowed from our files, or inline with the nonce of the response. The only
 * frame is the handset of the simulator.
 */
const headersWith = (nonce: string, handsetUrl: string | null): Record<string, string> =>
  pageHeaders({
    'default-src': "'self'",
    'script-src': `'self' 'nonce-${nonce}'`,
    'style-src': `'self' 'nonce-${nonce}'`,
    'style-src-attr': "'unsafe-inline'",
    'img-src': "'self' data: blob:",
    'font-src': "'self'",
    'connect-src': "'self'",
    'frame-src': handsetUrl === null ? "'none'" : new URL(handsetUrl).origin,
  })

/** Serves the console's assets. Returns a function that sends its page, or null if the console was not built. */
export function mountConsolePages(
  app: FastifyInstance,
  handsetUrl: string | null,
): ((reply: FastifyReply) => FastifyReply) | null {
  const index = join(built, 'index.html')
  if (!existsSync(index)) return null
  const html = readFileSync(index, 'utf8')
  app.register(fastifyStatic, {
    root: join(built, 'assets'),
    prefix: '/assets/',
    index: false,
    immutable: true,
    maxAge: '365d',
    preCompressed: true,
    allowedPath: (path) => !/\.(br|gz)$/.test(path),
    setHeaders: (reply) => void reply.headers({ 'X-Content-Type-Options': 'nosniff', Vary: 'Accept-Encoding' }),
  })
  return (reply) => {
    const nonce = randomBytes(16).toString('base64')
    return reply
      .type('text/html; charset=utf-8')
      .headers({ ...headersWith(nonce, handsetUrl), 'Cache-Control': 'no-store' })
      .send(html.replaceAll('__CSP_NONCE__', nonce))
  }
}
