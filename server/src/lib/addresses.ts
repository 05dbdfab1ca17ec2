import { isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

export interface AddressRange {
  /** Canonical text: `203.0.113.0/24`. */
  text: string
  base: Address
  bits: number
}

/** An address in its one canonical form, IPv4-mapped IPv6 as IPv4; undefined if it is none. */
export function canonicalAddress(text: string): string | undefined {
  return readAddress(text)?.toString()
}

/**
 * Reads an address or a range in CIDR form. Anything a person may have meant otherwise is refused with the reason: host
 * bits set, a zone, octal or shortened IPv4.
 */
export function readRange(text: string): AddressRange | { fault: string } {
  const [head = '', tail, ...more] = text.split('/')
  if (more.length > 0) return { fault: 'it has more than one "/"' }
  const written = readWritten(head)
  if (!written) return { fault: 'it is not an IPv4 or IPv6 address' }
  const mapped = written.kind() === 'ipv6' && (written as ipaddr.IPv6).isIPv4MappedAddress()
  const width = written.kind() === 'ipv6' ? 128 : 32
  if (tail !== undefined && !/^\d{1,3}$/.test(tail)) return { fault: 'the part after "/" is not a number of bits' }
  const writtenBits = tail === undefined ? width : Number(tail)
  if (writtenBits > width) return { fault: `the part after "/" is larger than ${width}` }
  if (mapped && writtenBits < 96) return { fault: 'an IPv4-mapped range must have at least 96 bits' }
  const base = mapped ? (written as ipaddr.IPv6).toIPv4Address() : written
  const bits = mapped ? writtenBits - 96 : writtenBits
  const network = firstOf(base, bits)
  if (!sameAddress(network, base)) {
    return { fault: `it has bits set beyond /${bits}; the range is ${network.toString()}/${bits}` }
  }
  return { text: `${base.toString()}/${bits}`, base, bits }
}

export function isWithin(address: string, ranges: readonly AddressRange[]): boolean {
  const read = readAddress(address)
  if (!read) return false
  return ranges.some(
    // The two families share one signature at run time, which the declared overloads cannot say.
    (range) => range.base.kind() === read.kind() && (read as ipaddr.IPv4).match(range.base as ipaddr.IPv4, range.bits),
  )
}

/** An address that anybody on the Internet may have: not private, local, reserved, nor another one in disguise. */
export function isPublicUnicast(address: string): boolean {
  const read = readAddress(address)
  if (read?.range() !== 'unicast') return false
  // Of IPv6 only 2000::/3 is given out. ipaddr.js takes the rest for unicast as well, ::10.1.2.3 among it.
  return read.kind() === 'ipv4' || ((read.toByteArray()[0] as number) & 0xe0) === 0x20
}

/** What belongs to one client: an IPv4 address, or the /64 of an IPv6 address, all of which one machine can have. */
export function addressBlock(address: string): string {
  const read = address.includes(':') ? readAddress(address) : undefined
  return read?.kind() === 'ipv6' ? `${firstOf(read, 64).toString()}/64` : address
}

function readAddress(text: string): Address | undefined {
  const written = readWritten(text)
  if (written?.kind() === 'ipv6' && (written as ipaddr.IPv6).isIPv4MappedAddress()) {
    return (written as ipaddr.IPv6).toIPv4Address()
  }
  return written
}

function readWritten(text: string): Address | undefined {
  if (text.includes('%')) return undefined
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  if (!isIPv6(text)) return undefined
  // ipaddr.js takes the long obsolete ::1.2.3.4 for ::ffff:1.2.3.4, which is another address.
  const four = /^::(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1]
  if (four === undefined) return ipaddr.IPv6.parse(text)
  return ipaddr.fromByteArray([...Array<number>(12).fill(0), ...ipaddr.IPv4.parse(four).toByteArray()])
}

function firstOf(address: Address, bits: number): Address {
  const bytes = address.toByteArray()
  for (let bit = bits; bit < bytes.length * 8; bit++) {
    bytes[bit >> 3] = (bytes[bit >> 3] as number) & ~(128 >> (bit & 7))
  }
  return ipaddr.fromByteArray(bytes)
}

const sameAddress = (left: Address, right: Address): boolean =>
  left.toByteArray().every((byte, index) => byte === right.toByteArray()[index])
