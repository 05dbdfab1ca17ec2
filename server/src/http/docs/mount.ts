import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Clock } from '../../lib/clock.ts'
import { refuse, refuseUntil } from '../../lib/refuse.ts'
import { addressBlock } from '../../net/addresses.ts'
import { CountedWindows } from '../../sharing/counted-windows.ts'
import type { DocsOptions } from './content.ts'
import { prefersMarkdown, sendText } from './respond.ts'
import { newDocsSite } from './site.ts'

const types = {
  css: 'text/css',
  html: 'text/html',
  json: 'application/json',
  md: 'text/markdown',
  mjs: 'text/javascript',
  svg: 'image/svg+xml',
  txt: 'text/plain',
} as const

/** How often a client address (IPv6: one /64) may search in a minute. Suggestions are looked for while a reader types. */
const searchesPerMinute = 300

export interface MountedDocs extends DocsOptions {
  clock: Clock
  addressOf(request: IncomingMessage): string
}

export function mountDocs(app: FastifyInstance, options: MountedDocs): void {
  const site = newDocsSite(options)
  const searches = new CountedWindows({ max: searchesPerMinute, windowMs: 60_000, maxKeys: 20_000 })
  const countSearch = ({ raw }: FastifyRequest) => {
    const now = options.clock.now()
    const { endsAt, isFull } = searches.count(addressBlock(options.addressOf(raw)), now)
    if (isFull) refuseUntil(now, endsAt, 'Too many searches from your network')
  }
  const url = (name: string) => `${options.publicUrl}/docs${name && `/${name}`}`

  /** A page, its Markdown, or a page that says that there is none. */
  const page = async (name: string, request: FastifyRequest, reply: FastifyReply) => {
    const base = name.replace(/\.md$/, '')
    if (base !== name || prefersMarkdown(request)) {
      const text = (await site.markdown(base)) ?? refuse('not_found')
      return sendText(request, reply, { type: types.md, text, canonical: url(base) })
    }
    const html = await site.page(name)
    if (html !== null) return sendText(request, reply, { type: types.html, text: html })
    return notFound(request, reply)
  }
  const notFound = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!/text\/html/.test(request.headers.accept ?? '')) refuse('not_found')
    // The page searches for what its address may mean.
    countSearch(request)
    const path = request.url.split('?', 1)[0] ?? ''
    return sendText(request, reply, { type: types.html, text: await site.notFound(path), status: 404 })
  }

  app.get('/docs', (request, reply) => page('', request, reply))
  app.get('/docs.md', (request, reply) => page('.md', request, reply))
  app.get<{ Params: { '*': string } }>('/docs/*', (request, reply) => {
    // One address for each page.
    const [path = '', search] = request.url.split('?', 2)
    const query = search === undefined ? '' : `?${search}`
    if (/^\/docs(\/[\w.-]+)*\/$/.test(path)) return reply.redirect(path.slice(0, -1) + query, 308)
    return page(request.params['*'], request, reply)
  })
  app.get<{ Querystring: { q?: string | string[] } }>('/docs/search', async (request, reply) => {
    countSearch(request)
    return sendText(request, reply, { type: types.html, text: await site.results(queryOf(request)) })
  })
  app.get<{ Querystring: { q?: string | string[] } }>('/docs/search.json', async (request, reply) => {
    countSearch(request)
    return sendText(request, reply, {
      type: types.json,
      text: JSON.stringify(await site.suggestions(queryOf(request))),
    })
  })
  app.get<{ Params: { file: string }; Querystring: { v?: string } }>('/docs/assets/:file', async (request, reply) => {
    const { file } = request.params
    const type = types[file.split('.').at(-1) as 'css' | 'mjs' | 'svg'] ?? types.txt
    const text = (await site.asset(file)) ?? refuse('not_found')
    return sendText(request, reply, { type, text, isVersioned: request.query.v !== undefined })
  })
  app.get('/llms.txt', (request, reply) => sendText(request, reply, { type: types.txt, text: site.llms() }))
  app.get('/llms-full.txt', async (request, reply) =>
    sendText(request, reply, { type: types.txt, text: await site.llmsFull() }),
  )
}

const queryMax = 100

const queryOf = ({ query }: { query: { q?: string | string[] } }): string => String(query.q ?? '').slice(0, queryMax)
