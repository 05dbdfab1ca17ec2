import { isIPv4 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { ControlError } from '../shape.ts'

/**
 * The control API asks for no key, so web pages must not reach it through somebody's browser: neither a page of another
 * site (it sends its Origin), nor one whose name was pointed at this machine (it sends its own name as the Host).
 */
export function refuseOtherSites(request: FastifyRequest): void {
  const { origin, host } = request.headers
  if (origin !== undefined && !isLocal(origin) && !isOwnPage(origin, host))
    throw new ControlError(`Pages of ${origin} may not use the control API.`, null, 403)
  const cameLocally = isLocal(`http://${request.socket.localAddress}`)
  if (cameLocally && host !== undefined && !isLocal(`http://${host}`))
    throw new ControlError('The control API answers only to an address of this machine.', null, 403)
}

/** The handset on another machine of the network. Only under a bare address: a name could have been pointed here by anyone. */
function isOwnPage(origin: string, host: string | undefined): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : undefined
  return url !== undefined && url.host === host && (isIPv4(url.hostname) || url.hostname.startsWith('['))
}

function isLocal(url: string): boolean {
  const hostname = URL.canParse(url) ? new URL(url).hostname : ''
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
