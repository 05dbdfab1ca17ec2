import { lookup as systemLookup } from 'node:dns'
import { isIP } from 'node:net'
import { type AddressRange, isPublicUnicast, isWithin } from './addresses.ts'

/** Resolves a host name to all of its addresses. */
export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>

/** Where deliveries may be sent. */
export interface TargetRules {
  /** Plain HTTP: false for never, `loopback` for loopback addresses, true for all. */
  allowHttp: boolean | 'loopback'
  /** Addresses that are allowed in addition to public ones. */
  allowRanges: readonly AddressRange[]
  resolve?: Resolve
}

/** The target has an address that is not allowed. Nothing was sent. */
export class Blocked extends Error {
  override readonly name = 'Blocked'
}

/** Throws `Blocked` unless all of these addresses are allowed. */
export function guardAddresses(rules: TargetRules, protocol: string, addresses: readonly string[]): void {
  for (const address of addresses) {
    if (!isPublicUnicast(address) && !isWithin(address, rules.allowRanges)) {
      throw new Blocked(`${address} is not a public address, and PARLEY_WEBHOOK_ALLOW_CIDRS does not include it`)
    }
    if (protocol === 'http:' && !mayBePlain(rules, address)) {
      throw new Blocked('plain HTTP is not allowed; use https, or set PARLEY_WEBHOOK_ALLOW_HTTP')
    }
  }
}

/** Resolves a host name, and returns its addresses if all of them are allowed. The host may also be an address. */
export async function guardedAddresses(rules: TargetRules, protocol: string, hostname: string) {
  const literal = literalAddress(hostname)
  const addresses = literal ? [{ address: literal, family: isIP(literal) }] : await (rules.resolve ?? resolve)(hostname)
  guardAddresses(
    rules,
    protocol,
    addresses.map(({ address }) => address),
  )
  return addresses
}

/** Explains why a URL cannot be saved as a target; undefined if it can. */
export async function targetProblem(rules: TargetRules, url: URL): Promise<string | undefined> {
  if (url.protocol !== 'https:' && (url.protocol !== 'http:' || rules.allowHttp === false)) {
    return 'Use a URL that starts with https://, for example https://example.com/webhooks.'
  }
  if (url.username || url.password) return 'The URL must not contain a user name or password.'
  try {
    await guardedAddresses(rules, url.protocol, url.hostname)
    return undefined
  } catch (error) {
    if (error instanceof Blocked) return `Webhooks cannot be sent to this address: ${error.message}.`
    return `The host name ${url.hostname} cannot be resolved (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`
  }
}

/** Returns the host of a URL if it is an IP address, without brackets. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) === 0 ? undefined : bare
}

const loopback = /^(127\.\d+\.\d+\.\d+|::1)$/

const mayBePlain = ({ allowHttp }: TargetRules, address: string): boolean =>
  allowHttp === 'loopback' ? loopback.test(address) : allowHttp

const pendingLookups = new Map<string, ReturnType<Resolve>>()

/**
 * Runs one lookup at a time for each name. The system runs few in parallel, and a slow name must not occupy them all.
 */
function resolve(hostname: string): ReturnType<Resolve> {
  const pending = pendingLookups.get(hostname) ?? lookUp(hostname)
  pendingLookups.set(hostname, pending)
  return pending
}

function lookUp(hostname: string): ReturnType<Resolve> {
  return new Promise((resolved, rejected) => {
    // Not every system resolves all spellings of localhost to itself.
    const name = /(^|\.)localhost\.?$/i.test(hostname) ? 'localhost' : hostname
    systemLookup(name, { all: true }, (error, addresses) => {
      pendingLookups.delete(hostname)
      if (error) rejected(error)
      else resolved(addresses)
    })
  })
}
