import { randomBytes } from 'node:crypto'
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from 'fastify'
import { prefersMarkdown } from './docs/respond.ts'
import { docsHeader, docsStyle, scalarStyle } from './docs-look.ts'
import { pageHeaders } from './page-headers.ts'

/** The page may not load from or connect to another host, and runs only the scripts and styles with the nonce. */
const headersWith = (nonce: string) =>
  pageHeaders({
    'default-src': "'self'",
    'script-src': `'self' 'nonce-${nonce}'`,
    'style-src': `'self' 'nonce-${nonce}'`,
    'img-src': "'self' data: blob:",
    'font-src': "'self' data:",
  })

/** Scalar gets its nonce at the start. Each response replaces it by a random one. */
const noncePlaceholder = 'nonce-of-this-response'

/**
 * Runs before Scalar, which adds styles in ways that the policy blocks: elements without the nonce, and attributes as
 * text. Also turns off runtime compilation in Zod, whose test for `eval` would be reported as a violation.
 */
const beforeScalar = `<script nonce="${noncePlaceholder}">{
  globalThis.__zod_globalConfig = { jitless: true }
  const { nonce } = document.currentScript
  const { createElement } = Document.prototype
  Document.prototype.createElement = function (...args) {
    const element = createElement.apply(this, args)
    if (element instanceof HTMLStyleElement) element.nonce = nonce
    return element
  }
  const { setAttribute } = Element.prototype
  Element.prototype.setAttribute = function (name, value) {
    if (name === 'style' && this.style) this.style.cssText = value
    else setAttribute.call(this, name, value)
  }
  const html = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML')
  Object.defineProperty(Element.prototype, 'innerHTML', {
    ...html,
    set(text) {
      html.set.call(this, String(text).replace(/(<[a-z][^<>]*\\s)style=/g, '$1data-style='))
      for (const each of this.querySelectorAll('[data-style]')) each.style.cssText = each.dataset.style
    },
  })
}</script>`

const path = '/docs/api'
const look = `<style nonce="${noncePlaceholder}">${docsStyle}${scalarStyle}</style>`

/**
 * The API reference, self-hosted: without Scalar's fonts, telemetry, AI assistant and sharing. Scalar is loaded when the
 * reference is first opened, because it takes more memory than any other part of the program.
 */
export async function mountReference(app: FastifyInstance): Promise<void> {
  app.addHook('onSend', async (_request, reply, payload) => {
    const nonce = randomBytes(16).toString('base64url')
    reply.headers(headersWith(nonce))
    if (typeof payload !== 'string' || !/html/.test(String(reply.getHeader('content-type')))) return payload
    return payload
      .replace('<head>', () => `<head>${beforeScalar}${look}`)
      .replace('<body>', () => `<body>${docsHeader(path)}`)
      .replaceAll(noncePlaceholder, nonce)
  })
  let opening: Promise<FastifyInstance> | undefined
  const respond = async (request: FastifyRequest, reply: FastifyReply) => {
    const { url } = request
    reply.header('Vary', 'Accept')
    if (prefersMarkdown(request)) return reply.redirect(`${path}.md`, 302)
    // After a failure, for example because no more files could be opened, the next request tries again.
    opening ??= openScalar().catch((error: unknown) => {
      opening = undefined
      throw error
    })
    const scalar = await opening
    const { statusCode, headers, payload } = await scalar.inject(url)
    if (headers.location !== undefined) return reply.redirect(headers.location, statusCode)
    return reply.code(statusCode).type(String(headers['content-type'])).send(payload)
  }
  for (const each of [path, `${path}/`, `${path}/js/scalar.js`]) app.get(each, respond)
}

async function openScalar(): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference')
  const app = fastify()
  await app.register(scalar, {
    routePrefix: path,
    configuration: {
      url: '/v1/openapi.json',
      title: 'Parley API',
      nonce: noncePlaceholder,
      withDefaultFonts: false,
      telemetry: false,
      showDeveloperTools: 'never',
      hideClientButton: true,
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  })
  return app
}
