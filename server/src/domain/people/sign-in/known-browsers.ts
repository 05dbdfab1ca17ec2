import { newUuid } from '../../../lib/ids.ts'
import { open, type SecretKeys, seal } from '../../../lib/seal.ts'
import { addressBlock } from '../../../net/addresses.ts'
import type { Client } from '../../../sharing/fair-queue.ts'

/**
 * A browser that completed a sign-in before. Failed attempts of others never lock it out, because its own are counted
 * separately. Its cookie is encrypted and names the people who signed in with it, so it helps only with their accounts.
 * It proves nothing else: the password and the second factor are still required.
 */
export interface KnownBrowser {
  id: string
  /** The people who signed in with it, the last one first. */
  people: readonly string[]
}

const place = 'known browser'
/** As long as the cookie. Each sign-in renews it. */
const lifetimeMs = 365 * 24 * 3_600_000
/** A shared browser; the cookie has to stay small. */
const maxPeople = 5

/** Null if there is no cookie, or if it is too old or not ours. */
export function readKnownBrowser(keys: SecretKeys, cookie: string | undefined, now: Date): KnownBrowser | null {
  if (cookie === undefined) return null
  try {
    const { id, people, at } = JSON.parse(open(keys, cookie, place)) as KnownBrowser & { at: number }
    return now.getTime() - at < lifetimeMs ? { id, people } : null
  } catch {
    return null
  }
}

/**
 * Whose limits a request without a session counts against. All known browsers of a person count as one, so that signing in
 * often does not raise the limits.
 */
export const clientOf = (known: KnownBrowser | null, address: string): Client =>
  known?.people[0]
    ? { key: `person ${known.people[0]}`, isKnown: true }
    : { key: `address ${addressBlock(address)}`, isKnown: false }

/** The cookie after this person has signed in. */
export function rememberBrowser(keys: SecretKeys, known: KnownBrowser | null, personId: string, now: Date): string {
  const id = known?.id ?? newUuid(now.getTime())
  const others = (known?.people ?? []).filter((each) => each !== personId)
  return seal(keys, JSON.stringify({ id, people: [personId, ...others].slice(0, maxPeople), at: now.getTime() }), place)
}
