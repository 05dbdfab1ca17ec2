import { isIP } from 'node:net'
import { type AddressRange, isLoopback, isPublicUnicast, isWithin } from './addresses.ts'
import { LookupError } from './lookup-error.ts'
import { NameLookups } from './name-lookups.ts'
import type { Address } from './system-names.ts'

/** Resolves a host name to all of its addresses. Look-ups in progress are limited for each workspace. */
type Resolve = (hostname: string, workspaceId?: string) => Promise<Address[]>

export interface TargetRules {
  /** Plain HTTP: false for never, `loopback` for loopback addresses, true for all. */
  allowHttp: boolean | 'loopback'
  /** Addresses that are allowed in addition to public ones. */
  allowRanges: readonly AddressRange[]
  /** The default asks the system's name servers. */
  resolve?: Resolve
}

const systemLookups = new NameLookups()

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
export async function guardedAddresses(
  rules: TargetRules,
  protocol: string,
  hostname: string,
  workspaceId?: string,
): Promise<Address[]> {
  const literal = literalAddress(hostname)
  const { resolve = systemLookups.resolve } = rules
  const addresses = literal ? [{ address: literal, family: isIP(literal) }] : await resolve(hostname, workspaceId)
  guardAddresses(
    rules,
    protocol,
    addresses.map(({ address }) => address),
  )
  return addresses
}

/** Explains why a URL cannot be saved as a target; undefined if it can. */
export async function targetProblem(rules: TargetRules, url: URL, workspaceId?: string): Promise<string | undefined> {
  if (url.protocol !== 'https:' && (url.protocol !== 'http:' || rules.allowHttp === false)) {
    return 'Use a URL that starts with https://, for example https://example.com/webhooks.'
  }
  if (url.username || url.password) return 'The URL must not contain a user name or password.'
  try {
    await guardedAddresses(rules, url.protocol, url.hostname, workspaceId)
    return undefined
  } catch (error) {
    if (error instanceof Blocked) return `Webhooks cannot be sent to this address: ${error.message}.`
    if (!(error instanceof LookupError)) throw error
    const advice = error.isOurs ? 'Try again in a minute.' : 'Check its spelling and its DNS records.'
    return `The host name ${url.hostname} cannot be resolved: ${error.message}. ${advice}`
  }
}

/** Returns the host of a URL if it is an IP address, without brackets. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) === 0 ? undefined : bare
}

const mayBePlain = ({ allowHttp }: TargetRules, address: string): boolean =>
  allowHttp === 'loopback' ? isLoopback(address) : allowHttp
