import type { IncomingMessage } from 'node:http'

/** Its path can be decoded, and it says which host it is meant for. */
export function isReadable({ url = '/', headers, httpVersion }: IncomingMessage): boolean {
  if (headers.host === undefined && httpVersion === '1.1') return false
  if (!url.includes('%')) return true
  try {
    decodeURIComponent(url.split('?', 1)[0] as string)
    return true
  } catch {
    return false
  }
}

const underV1 = /^\/v1(?:[/?#]|$)/
const unreadableUnderV1 = /^(https?:\/\/[^/]*)?\/v1([/?]|$)/i

/** Also where the target is a whole URL, or a letter of the path was encoded without need. */
export function isUnderV1(request: IncomingMessage): boolean {
  const { url = '/' } = request
  if (url.startsWith('/v1/') || underV1.test(url)) return true
  if (url.startsWith('/') && !url.includes('%')) return false
  if (!isReadable(request)) return unreadableUnderV1.test(url)
  // The path alone: it was seen that it can be decoded, the rest need not be.
  return underV1.test(decodeURI(url.split('?', 1)[0] as string).replace(/^https?:\/\/[^/?#]*/i, ''))
}
