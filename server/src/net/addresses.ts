import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

export interface AddressRange {
  /** Canonical text: `203.0.113.0/24`. */
  text: string
  base: Address
  bits: number
}

/** The canonical form of an address, with IPv4-mapped IPv6 as IPv4; undefined if it is not an address. */
export function canonicalAddress(text: string): string | undefined {
  return readAddress(text)?.toString()
}

/**
 * Reads an address or a CIDR range. Ambiguous input is rejected with the reason: host bits that are set, a zone, octal
 * or shortened IPv4.
 */
export function readRange(text: string): AddressRange | { fault: string } {
  const [head = '', tail, ...more] = text.split('/')
  if (more.length > 0) return { fault: 'it contains more than one "/"' }
  const parsed = parseAddress(head)
  if (!parsed) return { fault: 'it is not an IPv4 or IPv6 address' }
  const mapped = parsed.kind() === 'ipv6' && (parsed as ipaddr.IPv6).isIPv4MappedAddress()
  const width = parsed.kind() === 'ipv6' ? 128 : 32
  if (tail !== undefined && !/^\d{1,3}$/.test(tail)) return { fault: 'the part after "/" must be a number' }
  const prefixBits = tail === undefined ? width : Number(tail)
  if (prefixBits > width) return { fault: `the number after "/" must be at most ${width}` }
  if (mapped && prefixBits < 96) return { fault: 'an IPv4-mapped range needs at least /96' }
  const base = mapped ? (parsed as ipaddr.IPv6).toIPv4Address() : parsed
  const bits = mapped ? prefixBits - 96 : prefixBits
  const network = networkOf(base, bits)
  if (!sameAddress(network, base)) {
    return { fault: `it has bits set beyond /${bits}; use ${network.toString()}/${bits}` }
  }
  return { text: `${base.toString()}/${bits}`, base, bits }
}

export function isWithin(address: string, ranges: readonly AddressRange[]): boolean {
  const read = readAddress(address)
  if (!read) return false
  return ranges.some(
    // Both address families have the same method, but the overloads in the types do not say so.
    (range) => range.base.kind() === read.kind() && (read as ipaddr.IPv4).match(range.base as ipaddr.IPv4, range.bits),
  )
}

/** Whether every address of the inner range is in the outer one. */
export const covers = (outer: AddressRange, inner: AddressRange): boolean =>
  outer.base.kind() === inner.base.kind() &&
  outer.bits <= inner.bits &&
  sameAddress(networkOf(inner.base, outer.bits), outer.base)

/**
 * Whether this is a public Internet address: not private, local or reserved, and without an embedded address.
 */
export function isPublicUnicast(address: string): boolean {
  const read = readAddress(address)
  if (read?.range() !== 'unicast') return false
  // Only 2000::/3 of IPv6 is allocated. ipaddr.js reports the rest as unicast too, for example ::10.1.2.3.
  return read.kind() === 'ipv4' || ((read.toByteArray()[0] as number) & 0xe0) === 0x20
}

/** Whether an address, or the host of a URL without brackets, is this machine. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/**
 * The addresses that count as one client: an IPv4 address, or the /64 of an IPv6 address, which one machine may own.
 */
export function addressBlock(address: string): string {
  const read = address.includes(':') ? readAddress(address) : undefined
  return read?.kind() === 'ipv6' ? `${networkOf(read, 64).toString()}/64` : address
}

function readAddress(text: string): Address | undefined {
  const parsed = parseAddress(text)
  if (parsed?.kind() === 'ipv6' && (parsed as ipaddr.IPv6).isIPv4MappedAddress()) {
    return (parsed as ipaddr.IPv6).toIPv4Address()
  }
  return parsed
}

function parseAddress(text: string): Address | undefined {
  if (text.includes('%')) return undefined
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (!isIPv6(text)) return undefined
  // ipaddr.js reads the obsolete form ::1.2.3.4 as ::ffff:1.2.3.4, which is a different address.
  const four = /^::(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1]
  if (four === undefined) return ipaddr.IPv6.parse(text)
  return ipaddr.fromByteArray([...Array<number>(12).fill(0), ...ipaddr.IPv4.parse(four).toByteArray()])
}

function networkOf(address: Address, bits: number): Address {
  const bytes = address.toByteArray()
  for (let bit = bits; bit < bytes.length * 8; bit++) {
    bytes[bit >> 3] = (bytes[bit >> 3] as number) & ~(128 >> (bit & 7))
  }
  return ipaddr.fromByteArray(bytes)
}

const sameAddress = (left: Address, right: Address): boolean =>
  left.toByteArray().every((byte, index) => byte === right.toByteArray()[index])
