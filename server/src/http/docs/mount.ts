import type { FastifyInstance, FastifyReply } from 'fastify'
import { refuse } from '../../lib/refuse.ts'
import { pageHeaders } from '../page-headers.ts'
import type { DocsOptions } from './content.ts'
import { newDocsSite } from './site.ts'

/** Nothing of another host, and no scripts or styles in the page itself. */
const headers = pageHeaders({
  'default-src': "'none'",
  'style-src': "'self'",
  'script-src': "'self'",
  'connect-src': "'self'",
})

const types = { css: 'text/css', mjs: 'text/javascript', md: 'text/markdown', txt: 'text/plain' } as const

/** The documentation at /docs, and the files for language models. */
export function mountDocs(app: FastifyInstance, options: DocsOptions): void {
  const site = newDocsSite(options)
  const send = (reply: FastifyReply, type: string, text: string | null) =>
    reply
      .type(`${type}; charset=utf-8`)
      .headers(headers)
      .header('Cache-Control', 'no-cache')
      .send(text ?? refuse('not_found'))
  const page = async (name: string, reply: FastifyReply) => {
    const isMarkdown = name.endsWith('.md')
    return isMarkdown
      ? send(reply, types.md, await site.markdown(name.slice(0, -3)))
      : send(reply, 'text/html', await site.page(name))
  }
  app.get('/docs', (_request, reply) => page('', reply))
  app.get('/docs/', (_request, reply) => reply.redirect('/docs', 308))
  app.get<{ Params: { name: string } }>('/docs/:name', ({ params }, reply) => page(params.name, reply))
  app.get<{ Params: { name: string } }>('/docs/decisions/:name', ({ params }, reply) =>
    page(`decisions/${params.name}`, reply),
  )
  app.get<{ Querystring: { q?: string | string[] } }>('/docs/search', async ({ query }, reply) =>
    send(reply, 'text/html', await site.results(String(query.q ?? '').slice(0, 100))),
  )
  app.get('/docs/search.json', async (_request, reply) => send(reply, 'application/json', await site.searchIndex()))
  app.get<{ Params: { file: string } }>('/docs/assets/:file', async ({ params: { file } }, reply) =>
    send(reply, file.endsWith('.css') ? types.css : types.mjs, await site.asset(file)),
  )
  app.get('/llms.txt', (_request, reply) => send(reply, types.txt, site.llms()))
  app.get('/llms-full.txt', async (_request, reply) => send(reply, types.txt, await site.llmsFull()))
}
