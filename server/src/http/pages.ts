import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuse } from '../lib/refuse.ts'
import { mountConsolePages } from './console/pages.ts'
import { pageHeaders } from './page-headers.ts'

export interface PagesOptions {
  whyNotReady(): Promise<string | null>
  /** Complete HTML pages, by path. */
  pages: Readonly<Record<string, string>>
  /** The only other site that the console may show in a frame. */
  handsetUrl: string | null
}

/** The routes outside /v1: health checks, a few pages, and the console. */
export function mountPages(app: FastifyInstance, { whyNotReady, pages, handsetUrl }: PagesOptions): void {
  app.addHook('onSend', async (request, reply) => void reply.header('X-Request-Id', request.id))
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const reason = await whyNotReady()
    return reason === null ? { status: 'ready' } : reply.code(503).send({ status: 'not ready', reason })
  })
  for (const [path, html] of Object.entries(pages)) {
    const headers = pageHeaders({ 'default-src': "'none'", 'style-src': hashesOfStyles(html) })
    app.get(path, (_request, reply) => reply.type('text/html; charset=utf-8').headers(headers).send(html))
  }
  const consolePage = mountConsolePages(app, handsetUrl)
  // The console does its own routing, so every other address that a browser opens gets its page.
  app.setNotFoundHandler((request, reply) =>
    consolePage && isForBrowser(request) ? consolePage(reply) : refuse('not_found'),
  )
}

/** The style sheets in a page, as the content security policy names them. */
const hashesOfStyles = (html: string): string =>
  [...html.matchAll(/<style>(.*?)<\/style>/gs)]
    .map(([, css = '']) => `'sha256-${createHash('sha256').update(css).digest('base64')}'`)
    .join(' ')

const isForBrowser = ({ method, url, headers }: FastifyRequest): boolean =>
  method === 'GET' && !/^\/(assets|console|docs)\//.test(url) && /text\/html/.test(headers.accept ?? '')
