import type { FastifyInstance, FastifyRequest } from 'fastify'
import { refuse } from '../lib/refuse.ts'
import { mountConsolePages } from './console/pages.ts'
import { type MountedDocs, mountDocs } from './docs/mount.ts'

export interface PagesOptions {
  whyNotReady(): Promise<string | null>
  docs: MountedDocs
  /** The only other site that the console may show in a frame. */
  handsetUrl: string | null
}

/** The routes outside /v1: health checks, the documentation, and the console. */
export function mountPages(app: FastifyInstance, { whyNotReady, docs, handsetUrl }: PagesOptions): void {
  app.get('/healthz', () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const reason = await whyNotReady()
    return reason === null ? { status: 'ready' } : reply.code(503).send({ status: 'not ready', reason })
  })
  mountDocs(app, docs)
  const consolePage = mountConsolePages(app, handsetUrl)
  // The console does its own routing, so every other address that a browser opens gets its page.
  app.setNotFoundHandler((request, reply) =>
    consolePage && isForBrowser(request) ? consolePage(reply) : refuse('not_found', { message: unknownPath }),
  )
}

const unknownPath = 'This path does not exist. Paths of the API begin with /v1, and all are listed at /docs/api.'

/** The start page is for every client, so that a check with `curl` finds it. */
const isForBrowser = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  (/^\/(\?|$)/.test(url) ||
    (!/^\/(assets|console|docs|network)\//.test(url) && /text\/html/.test(headers.accept ?? '')))
