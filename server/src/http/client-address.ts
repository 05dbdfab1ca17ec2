import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { type AddressRange, canonicalAddress, isWithin } from '../net/addresses.ts'

/**
 * The client address of a request. `X-Forwarded-For` is trusted only as far as trusted proxies wrote it: read from the
 * right, the first address that is not a trusted proxy is the client. At an entry that is not an address, the proxy
 * that forwarded it counts as the client.
 */
export function clientAddressReader(trusted: readonly AddressRange[]): (request: IncomingMessage) => string {
  return (request) => {
    const peer = peerAddress(request.socket)
    const forwarded = request.headers['x-forwarded-for']
    if (trusted.length === 0 || forwarded === undefined || !isWithin(peer, trusted)) return peer
    const hops = (Array.isArray(forwarded) ? forwarded.join(',') : forwarded).split(',')
    let client = peer
    for (const hop of hops.reverse()) {
      const address = canonicalAddress(withoutPort(hop.trim()))
      if (!address) return client
      client = address
      if (!isWithin(address, trusted)) return client
    }
    return client
  }
}

const known = new WeakMap<Socket, string>()

/** The remote address of a connection. Cached, because it does not change. */
export function peerAddress(socket: Socket): string {
  let address = known.get(socket)
  if (address === undefined) {
    address = canonicalAddress(socket.remoteAddress?.replace(/%.*$/, '') ?? '') ?? '0.0.0.0'
    known.set(socket, address)
  }
  return address
}

/** Some proxies write `203.0.113.9:4711` or `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop
