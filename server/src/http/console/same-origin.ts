import type { FastifyRequest } from 'fastify'
import { refuse } from '../../lib/refuse.ts'

/**
 * Refuses what another website makes a browser send. A browser says where a request comes from; whoever does not say so
 * is not the console. JSON alone is taken, which a form of another site cannot send.
 */
export function requireSameOrigin(request: FastifyRequest, publicUrl: string): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  const { origin, host, 'sec-fetch-site': site, 'content-type': type } = request.headers
  const own = origin !== undefined && (origin === originOf(publicUrl) || isOwnHost(origin, host))
  if (!own || (site !== undefined && site !== 'same-origin')) refuse('cross_site')
  if (type !== undefined && !/^application\/json\s*(;|$)/i.test(type)) refuse('unsupported_media_type')
}

const originOf = (url: string): string => new URL(url).origin

/** The page and the request have the same host, whatever name the service is reached under. */
function isOwnHost(origin: string, host: string | undefined): boolean {
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host
}
