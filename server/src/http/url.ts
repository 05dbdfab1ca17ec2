import type { IncomingMessage } from 'node:http'

/** The path can be decoded, and the Host header is present where HTTP requires it. */
export function hasValidTarget({ url = '/', headers, httpVersion }: IncomingMessage): boolean {
  if (headers.host === undefined && httpVersion === '1.1') return false
  if (!url.includes('%')) return true
  try {
    decodeURIComponent(url.split('?', 1)[0] as string)
    return true
  } catch {
    return false
  }
}

const ofApi = /^\/(?:v1|mcp)(?:[/?#]|$)/
const undecodableOfApi = /^(https?:\/\/[^/]*)?\/(v1|mcp)([/?]|$)/i

/** Whether the request is for /v1 or /mcp. Also matches an absolute URL as the request target, and unnecessary percent-encoding in the path. */
export function isForApi(request: IncomingMessage): boolean {
  const { url = '/' } = request
  if (url.startsWith('/v1/') || ofApi.test(url)) return true
  if (url.startsWith('/') && !url.includes('%')) return false
  if (!hasValidTarget(request)) return undecodableOfApi.test(url)
  // Only the path: it is known to be decodable, the query may not be.
  return ofApi.test(decodeURI(url.split('?', 1)[0] as string).replace(/^https?:\/\/[^/?#]*/i, ''))
}
