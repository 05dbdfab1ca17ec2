import type { FastifyRequest } from 'fastify'
import { ControlError } from '../shape.ts'

/**
 * The control API asks for no key, so web pages must not reach it through somebody's browser: neither a page of another
 * site (it sends its Origin), nor one whose name was pointed at this machine (it sends its own name as the Host).
 */
export function refuseOtherSites(request: FastifyRequest): void {
  const { origin, host } = request.headers
  if (origin !== undefined && !isLocal(origin))
    throw new ControlError(`Pages of ${origin} may not use the control API.`, null, 403)
  const cameLocally = isLocal(`http://${request.socket.localAddress}`)
  if (cameLocally && host !== undefined && !isLocal(`http://${host}`))
    throw new ControlError('The control API answers only to an address of this machine.', null, 403)
}

function isLocal(url: string): boolean {
  const hostname = URL.canParse(url) ? new URL(url).hostname : ''
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
