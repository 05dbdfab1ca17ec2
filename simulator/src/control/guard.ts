import { isIPv4 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { ControlError } from '../shape.ts'

/**
 * The control API has no authentication, so pages of other sites must not use it through the user's browser. A page of
 * another site sends its Origin. A page whose domain resolves to this machine (DNS rebinding) sends its domain as Host.
 */
export function refuseOtherSites(request: FastifyRequest): void {
  const { origin, host } = request.headers
  if (origin !== undefined && !isLocal(origin) && !isOwnPage(origin, host))
    throw new ControlError(`Pages of ${origin} cannot use the control API.`, null, 403)
  const isLocalConnection = isLocal(`http://${request.socket.localAddress}`)
  if (isLocalConnection && host !== undefined && !isLocal(`http://${host}`))
    throw new ControlError('The control API accepts only localhost or a loopback address as host.', null, 403)
}

/** The handset opened from another machine. Only with an IP address as host, because any domain can resolve to this machine. */
function isOwnPage(origin: string, host: string | undefined): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  return url !== undefined && url.host === host && (isIPv4(url.hostname) || url.hostname.startsWith('['))
}

function isLocal(url: string): boolean {
  const hostname = URL.canParse(url) ? new URL(url).hostname : ''
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
