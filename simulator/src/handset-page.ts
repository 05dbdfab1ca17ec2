import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import type { FastifyInstance } from 'fastify'
import { escapeHtml } from './escape-html.ts'

const folder = new URL('../handset/', import.meta.url)

const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  ts: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
  ogg: 'audio/ogg',
  mp4: 'video/mp4',
  webp: 'image/webp',
  woff2: 'font/woff2',
}

/**
 * The page may load only its own files and call only this server. Only the console may show it in a frame, because a
 * click sends messages.
 */
const headersWith = (framedBy: string) => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${framedBy}`,
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
})

/** The console, also under the other name of this machine. */
function originsOf(consoleUrl: string): string {
  const { protocol, hostname, port, origin } = new URL(consoleUrl)
  const others: Record<string, string> = { localhost: '127.0.0.1', '127.0.0.1': 'localhost' }
  const other = others[hostname]
  return other === undefined ? origin : `${origin} ${protocol}//${other}${port && `:${port}`}`
}

/** Serves the handset, a phone in the browser. Its sources are TypeScript; types are stripped on the first request. */
export function handsetRoutes(server: FastifyInstance, consoleUrl: string | null): void {
  const headers = headersWith(consoleUrl === null ? "'none'" : originsOf(consoleUrl))
  const page = () => String(read('index.html')).replace('__CONSOLE__', escapeHtml(consoleUrl ?? ''))
  const names = new Set(readdirSync(folder).filter((name) => typeOf(name) !== undefined))
  const cache = new Map<string, string | Buffer>()
  const read = (name: string): string | Buffer => {
    const content = cache.get(name) ?? contentOf(name)
    cache.set(name, content)
    return content
  }
  server.get('/', (_request, reply) =>
    reply
      .headers(headers)
      .type(types.html ?? '')
      .send(page()),
  )
  server.get('/handset', (_request, reply) => reply.redirect('/'))
  server.get('/handset/:name', (request, reply) => {
    const { name } = request.params as { name: string }
    const type = typeOf(name)
    if (!names.has(name) || type === undefined) return reply.callNotFound()
    return reply.headers(headers).type(type).send(read(name))
  })
}

function typeOf(name: string): string | undefined {
  return types[name.split('.').at(-1) ?? '']
}

function contentOf(name: string): string | Buffer {
  const bytes = readFileSync(new URL(name, folder))
  return name.endsWith('.ts') ? stripTypes(bytes.toString('utf8')) : bytes
}

/** Suppresses Node's warning that `stripTypeScriptTypes` is experimental. */
function stripTypes(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
