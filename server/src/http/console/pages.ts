import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply } from 'fastify'
import { pageHeaders } from '../page-headers.ts'

const built = join(import.meta.dirname, '..', '..', '..', '..', 'console', 'dist')

/** Everything comes from us; a script or a style runs only if it is a file of ours or bears the answer's nonce. */
const headersWith = (nonce: string): Record<string, string> =>
  pageHeaders({
    'default-src': "'self'",
    'script-src': `'self' 'nonce-${nonce}'`,
    'style-src': `'self' 'nonce-${nonce}'`,
    'style-src-attr': "'unsafe-inline'",
    'img-src': "'self' data: blob:",
    'font-src': "'self'",
    'connect-src': "'self'",
  })

/** The console's files, and its one page at every address that is nothing else. Returns null where it was not built. */
export function mountConsolePages(app: FastifyInstance): ((reply: FastifyReply) => FastifyReply) | null {
  const index = join(built, 'index.html')
  if (!existsSync(index)) return null
  const html = readFileSync(index, 'utf8')
  app.register(fastifyStatic, {
    root: join(built, 'assets'),
    prefix: '/assets/',
    wildcard: false,
    index: false,
    immutable: true,
    maxAge: '365d',
    preCompressed: true,
    globIgnore: ['**/*.{br,gz}'],
    setHeaders: (reply) => void reply.headers({ 'X-Content-Type-Options': 'nosniff', Vary: 'Accept-Encoding' }),
  })
  return (reply) => {
    const nonce = randomBytes(16).toString('base64')
    return reply
      .type('text/html; charset=utf-8')
      .headers({ ...headersWith(nonce), 'Cache-Control': 'no-store' })
      .send(html.replaceAll('__CSP_NONCE__', nonce))
  }
}
