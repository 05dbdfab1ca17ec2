import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/**
 * Pages of other sites must not use the simulator through the user's browser: the control API has no authentication.
 * A page of another site sends its Origin. A page whose domain resolves to this machine (DNS rebinding) sends its
 * domain as Host; it cannot send an IP address. `names` are the host names that the simulator was started with. Returns
 * what is wrong.
 */
export function findOtherSite(request: FastifyRequest, names: readonly string[]): string | undefined {
  const { origin, host } = request.headers
  const name = host === undefined ? undefined : hostnameOf(`http://${host}`)
  const isOnNetwork = !/^(::1|(::ffff:)?127\..+)$/.test(request.socket.localAddress ?? '')
  const isKnown = (one: string) => isLocal(one) || names.includes(one) || (isOnNetwork && isAddress(one))
  if (name !== undefined && !isKnown(name))
    return `The simulator does not accept the host ${host}. Use localhost or an IP address, or start it with --public-url.`
  if (origin === undefined) return undefined
  const isOwnPage = URL.canParse(origin) && new URL(origin).host === host
  if (isLocal(hostnameOf(origin)) || isOwnPage) return undefined
  return `Pages of ${origin} cannot use the simulator.`
}

const hostnameOf = (url: string): string => (URL.canParse(url) ? new URL(url).hostname : '')

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0

const isLocal = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
