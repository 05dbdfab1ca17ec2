import type { ApiErrorDetail } from '@parley/contract/console/api-errors'

interface Remedy {
  title: string
  /** Path below the workspace. */
  to: string
}

type Known = Pick<ApiErrorDetail, 'code' | 'by_key' | 'by_address' | 'by_route'>

/** The page that fixes this error, if there is one. */
export function remedyOf({ code, by_key, by_address, by_route }: Known): Remedy | null {
  const key = by_key.find((row) => row.key !== null)?.key
  const named = key?.name ?? 'the key'
  switch (code) {
    case 'ip_not_allowed': {
      const address = by_address[0]?.address
      if (!key || !address) return null
      return { title: `Allow ${address} for ${named}`, to: `keys?open=${key.id}&add_ip=${encodeURIComponent(address)}` }
    }
    case 'insufficient_scope': {
      const scope = by_route.map(({ method, route }) => scopeOf(method, route)).find((each) => each !== null)
      if (!key || !scope) return null
      return { title: `Grant ${scope} to ${named}`, to: `keys?open=${key.id}&add_scope=${scope}` }
    }
    case 'rate_limited':
      return key ? { title: `Raise the rate limit of ${named}`, to: `keys?open=${key.id}` } : null
    case 'key_expired':
    case 'key_revoked':
    case 'invalid_key':
      return { title: 'Create key', to: 'keys?new=1' }
    case 'insufficient_credits':
      return { title: 'View credits', to: 'credits' }
    default:
      return null
  }
}

/** The scope that a route requires. */
function scopeOf(method: string, route: string): string | null {
  const [, noun] = /^\/v1\/(\w+)/.exec(route) ?? []
  switch (noun) {
    case 'messages':
      return method === 'POST' ? 'messages:send' : 'messages:read'
    case 'inbound_messages':
      return method === 'POST' ? 'messages:send' : 'inbound:read'
    case 'senders':
      return 'senders:read'
    case 'templates':
      return 'templates:read'
    case 'webhook':
      return 'webhooks:read'
    case 'media':
      return 'messages:send'
    case 'flow_responses':
      return 'flow_responses:read'
    case 'events':
      return 'events:read'
    default:
      return null
  }
}
