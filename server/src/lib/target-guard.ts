import { lookup as systemLookup } from 'node:dns'
import { isIP } from 'node:net'
import { type AddressRange, isPublicUnicast, isWithin } from './addresses.ts'

/** Every address of a name. */
export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>

/** Where deliveries may go. */
export interface TargetRules {
  /** Plain http: never, to loopback addresses, or anywhere. */
  allowHttp: boolean | 'loopback'
  /** Addresses that may be reached besides public ones. */
  allowRanges: readonly AddressRange[]
  resolve?: Resolve
}

/** The target has an address that deliveries must not reach; nothing was sent there. */
export class Blocked extends Error {
  override readonly name = 'Blocked'
}

/** Throws `Blocked` unless every one of these addresses may be reached. */
export function guardAddresses(rules: TargetRules, protocol: string, addresses: readonly string[]): void {
  for (const address of addresses) {
    if (!isPublicUnicast(address) && !isWithin(address, rules.allowRanges)) {
      throw new Blocked(`${address} is not a public address, and PARLEY_WEBHOOK_ALLOW_CIDRS does not name it`)
    }
    if (protocol === 'http:' && !mayBePlain(rules, address)) {
      throw new Blocked('plain http is not allowed here; PARLEY_WEBHOOK_ALLOW_HTTP says where it is')
    }
  }
}

/** Resolves a name and gives its addresses if all of them may be reached; one that is an address already stands for itself. */
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

/** Why a URL must not be saved as a target, in words; undefined if it may. */
export async function targetProblem(rules: TargetRules, url: URL): Promise<string | undefined> {
  if (url.protocol !== 'https:' && (url.protocol !== 'http:' || rules.allowHttp === false)) {
    return 'The URL must be of the form https://host/path.'
  }
  if (url.username || url.password) return 'The URL must not hold a user name or password.'
  try {
    await guardedAddresses(rules, url.protocol, url.hostname)
    return undefined
  } catch (error) {
    if (error instanceof Blocked) return `The URL leads to an address that must not be reached: ${error.message}.`
    return `The name ${url.hostname} cannot be resolved (${(error as NodeJS.ErrnoException).code ?? 'unknown'}).`
  }
}

/** The address that a URL's host is, if it is one and no name. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) === 0 ? undefined : bare
}

const loopback = /^(127\.\d+\.\d+\.\d+|::1)$/

const mayBePlain = ({ allowHttp }: TargetRules, address: string): boolean =>
  allowHttp === 'loopback' ? loopback.test(address) : allowHttp

const underWay = new Map<string, ReturnType<Resolve>>()

/** One question at a time for each name: the system answers few at once, and a name that hangs must not take them all. */
function resolve(hostname: string): ReturnType<Resolve> {
  const asked = underWay.get(hostname) ?? askSystem(hostname)
  underWay.set(hostname, asked)
  return asked
}

function askSystem(hostname: string): ReturnType<Resolve> {
  return new Promise((resolved, rejected) => {
    // Not every system knows that this name is its own however it is written.
    const name = /(^|\.)localhost\.?$/i.test(hostname) ? 'localhost' : hostname
    systemLookup(name, { all: true }, (error, addresses) => {
      underWay.delete(hostname)
      if (error) rejected(error)
      else resolved(addresses)
    })
  })
}
