import type { FastifyRequest } from 'fastify'
import { refuse } from '../../lib/refuse.ts'

/**
 * Protects against CSRF. Browsers send an Origin header with every request that can change something, so a request
 * without one does not come from the console. Only JSON is accepted, which a form on another site cannot send.
 */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const { origin, host, 'sec-fetch-site': site, 'content-type': type } = request.headers
  const isOwn = origin !== undefined && (origin === originOf(publicUrl) || isOwnHost(origin, host))
  if (!isOwn || (site !== undefined && site !== 'same-origin')) refuse('cross_site')
  if (type !== undefined && !/^application\/json\s*(;|$)/i.test(type)) refuse('unsupported_media_type')
}

const originOf = (url: string): string => new URL(url).origin

/** The page and the request have the same host. The service may be reachable under several names. */
function isOwnHost(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host
}
