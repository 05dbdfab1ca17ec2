import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { pageHeaders } from '../page-headers.ts'

/** Nothing of another host, and no scripts or styles in the page itself. */
const headers = pageHeaders({
  'default-src': "'none'",
  'img-src': "'self'",
  'style-src': "'self'",
  'script-src': "'self'",
  'connect-src': "'self'",
})

const compress = promisify(gzip)

/** Smaller texts are not compressed. */
const compressFromBytes = 1_000

export interface TextResponse {
  type: string
  text: string
  status?: number
  /** Whether the address changes with the text, so that clients may cache it without asking again. */
  isVersioned?: boolean
  /** The address of the page that the text is a version of. */
  canonical?: string
}

/** Sends a text of the documentation, compressed if the client accepts that. A client that has the text already gets 304. */
export async function sendText(request: FastifyRequest, reply: FastifyReply, response: TextResponse) {
  const { type, text, status = 200, isVersioned = false, canonical } = response
  const acceptsGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/.test(String(request.headers['accept-encoding'] ?? ''))
  const isCompressed = acceptsGzip && text.length >= compressFromBytes
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 22)
  const etag = `"${hash}${isCompressed ? '-gzip' : ''}"`
  reply.headers(headers).headers({
    'Cache-Control': isVersioned ? 'public, max-age=31536000, immutable' : 'no-cache',
    ETag: etag,
    Vary: 'Accept, Accept-Encoding',
  })
  if (canonical !== undefined) reply.header('Link', `<${canonical}>; rel="canonical"`)
  if (status === 200 && isOneOf(etag, request.headers['if-none-match'])) return reply.code(304).send()
  reply.code(status).type(`${type}; charset=utf-8`)
  if (!isCompressed) return reply.send(text)
  return reply.header('Content-Encoding', 'gzip').send(await compress(text))
}

const isOneOf = (etag: string, known = ''): boolean =>
  known.split(',').some((each) => each.trim().replace(/^W\//, '') === etag)

/** Whether a client asks for Markdown rather than for a page, as agents do. */
export function prefersMarkdown({ headers: { accept = '' } }: Pick<FastifyRequest, 'headers'>): boolean {
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((each) => each.startsWith('q='))?.slice(2)
    return { type, quality: quality === undefined ? 1 : Number(quality) || 0 }
  })
  const at = (wanted: string) => ranges.findIndex(({ type, quality }) => type === wanted && quality > 0)
  const [markdown, html] = [at('text/markdown'), at('text/html')]
  const [ofMarkdown = 0, ofHtml = 0] = [ranges[markdown]?.quality, ranges[html]?.quality]
  return ofMarkdown === ofHtml ? markdown < html : ofMarkdown > ofHtml
}
