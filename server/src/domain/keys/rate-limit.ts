import type { Db } from '../../db/db.ts'
import type { AccessDecision, AccessRequest, CheckAccess, RateLimitState } from '../../http/access-check.ts'
import { type Clock, startTimer } from '../../lib/clock.ts'
import { Refusal, refuse } from '../../lib/refuse.ts'
import { addressBlock } from '../../net/addresses.ts'
import { batched } from '../../sharing/batch.ts'
import { type Access, newAccessCache, refusalOf } from './access.ts'
import { type Charge, chargeRateLimits } from './rate-limit.sql.ts'
import { digestOf, hintIn, secretOf } from './secret.ts'

/**
 * Decides whether a request is allowed, and counts it. Requests that arrive while a statement is running are batched into
 * the next one, so each is counted by a statement that began after it arrived. That statement counts nothing unless the
 * access revision is the one our cached keys were read at; otherwise the keys are read again and the batch is retried. So
 * a limit is exact across all processes, and a revoked key or a changed limit takes effect on the next request in every
 * process. See docs/project/decisions/rate-limits.md.
 */
export function newAccessCheck(db: Db, clock: Clock): CheckAccess {
  const keys = newAccessCache(db)
  let revision = 0

  async function decideAll(requests: readonly Incoming[]): Promise<AccessDecision[]> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const digests = requests.flatMap(({ digest }) => digest ?? [])
      const found = await keys.find(digests, revision)
      const now = clock.now()
      const charges = new Map<string, Charge>()
      const pending = requests.map(({ request, digest }) => {
        return addCharge(charges, request, found.values.get(digest ?? '') ?? null, now)
      })
      const elapsed = startTimer(clock)
      revision = await chargeRateLimits(db, found.revision, charges, clock.pinned())
      const elapsedMs = elapsed()
      if (revision === found.revision) return pending.map((each) => toDecision(each, elapsedMs))
    }
    return refuse('service_unavailable')
  }

  const decide = batched(decideAll, { maxItems: 1000 })
  return (request) => {
    const secret = request.isPublic ? undefined : secretOf(request.authorization)
    return decide({ request, digest: secret === undefined ? null : digestOf(secret) })
  }
}

/** Limit per IPv4 address or /64 of IPv6, for requests without a usable key. */
const addressLimit = 600

/** Each retry means that a key changed while the batch was being decided; this many in a row do not happen. */
const maxAttempts = 100

/**
 * If this process was frozen, its requests may have been counted in a window that ended, and others use the next one. A
 * request is refused if its window ended longer ago than a statement takes.
 */
const lateMs = 5_000

interface Incoming {
  request: AccessRequest
  /** Digest of its key, if the key is well-formed. */
  digest: string | null
}

interface Pending {
  caller: Access['caller'] | null
  refusal: Refusal | null
  keyHint: string | null
  /** Null if the request was counted before. */
  charge: Charge | null
}

/** Rejected and public requests count against their IP address, all others against their key. */
function addCharge(charges: Map<string, Charge>, request: AccessRequest, access: Access | null, now: Date): Pending {
  const refusal = refusalOf(request, access, now)
  const caller = access?.caller ?? null
  if (request.isCounted) return { caller, refusal, keyHint: null, charge: null }
  const [subject, limit] =
    caller && !refusal
      ? [`k:${caller.keyId}`, caller.rateLimitPerMin]
      : [`a:${addressBlock(request.address)}`, addressLimit]
  let charge = charges.get(subject)
  if (!charge) {
    charge = { subject, amount: 0, limit, granted: 0, used: 0, msLeft: 0 }
    charges.set(subject, charge)
  }
  charge.amount++
  const keyHint = refusal?.code === 'invalid_key' ? hintIn(request.authorization) : null
  return { caller, refusal, keyHint, charge }
}

function toDecision({ caller, refusal, keyHint, charge }: Pending, elapsedMs: number): AccessDecision {
  if (charge === null) {
    return refusal
      ? { kind: 'refused', refusal, caller, rateLimit: uncounted, keyHint }
      : { kind: 'admitted', caller, rateLimit: uncounted }
  }
  const isGranted = charge.granted > 0
  // Count down within the batch: the first granted request sees the most remaining, the last sees what is left now.
  if (isGranted) charge.granted--
  const { limit } = charge
  const remaining = isGranted ? limit - charge.used + charge.granted : 0
  const rateLimit = { limit, remaining, resetSeconds: secondsLeft(charge.msLeft) }
  const isLate = isGranted && elapsedMs >= charge.msLeft + lateMs
  const rejection = isLate ? new Refusal('service_unavailable') : isGranted ? refusal : overLimit(rateLimit)
  return rejection
    ? { kind: 'refused', refusal: rejection, caller, rateLimit, keyHint }
    : { kind: 'admitted', caller, rateLimit }
}

/** The response to a request that was counted before has the headers of that. */
const uncounted: RateLimitState = { limit: 0, remaining: 0, resetSeconds: 0 }

function overLimit({ limit, resetSeconds }: RateLimitState): Refusal {
  return new Refusal('rate_limited', {
    details: { limit, retry_after: resetSeconds },
    headers: { 'Retry-After': String(resetSeconds) },
  })
}

/** Whole seconds until the window ends: never 0, because a client would then retry within it. */
export const secondsLeft = (msLeft: number): number => Math.min(60, Math.max(1, Math.ceil(msLeft / 1000)))
