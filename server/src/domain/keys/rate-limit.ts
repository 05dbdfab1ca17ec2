import type { Db } from '../../db/db.ts'
import type { AccessDecision, AccessRequest, CheckAccess, RateLimitState } from '../../lib/access-check.ts'
import { batched } from '../../lib/batch.ts'
import type { Clock } from '../../lib/clock.ts'
import { Refusal, refuse } from '../../lib/refuse.ts'
import { type Access, newAccessCache, refusalOf } from './access.ts'
import { type Charge, chargeRateLimits } from './rate-limit.sql.ts'
import { digestOf, secretOf } from './secret.ts'

/**
 * Decides whether a request is allowed, and counts it. Requests that arrive while a statement is under way share the next
 * one, so each is counted by a statement that began after it arrived. That statement counts nothing unless the access
 * revision is the one our cached keys were read at; otherwise the keys are read again and the batch is decided anew. So a
 * limit is exact over all processes, and a revoked key or a changed limit takes effect on the next request in every process.
 * See docs/decisions/rate-limits.md.
 */
export function newAccessCheck(db: Db, clock: Clock): CheckAccess {
  const keys = newAccessCache(db)
  let revision = 0

  async function admitAll(requests: readonly Arrived[]): Promise<AccessDecision[]> {
    for (let tries = 0; tries < maxTries; tries++) {
      const digests = requests.flatMap(({ digest }) => digest ?? [])
      const found = await keys.find(digests, revision)
      const now = clock.now()
      const charges = new Map<string, Charge>()
      const pending = requests.map(({ visitor, digest }) => {
        return addCharge(charges, visitor, found.values.get(digest ?? '') ?? null, now)
      })
      revision = await chargeRateLimits(db, found.revision, charges, clock.pinned())
      if (revision === found.revision) return pending.map(settle)
    }
    return refuse('service_unavailable')
  }

  const admit = batched(admitAll, { maxItems: 1000 })
  return (visitor) => {
    const secret = visitor.isPublic ? undefined : secretOf(visitor.authorization)
    return admit({ visitor, digest: secret === undefined ? null : digestOf(secret) })
  }
}

/** Requests without a usable key are limited by the address they come from. */
const addressBudget = 600

/** More often than keys change while one batch is decided. */
const maxTries = 100

interface Arrived {
  visitor: AccessRequest
  /** Of the key it presents, if it presents a well-formed one. */
  digest: string | null
}

interface Pending {
  caller: Access['caller'] | null
  refusal: Refusal | null
  charge: Charge
}

/** What is refused, and what is public, counts against its address; everything else against its key. */
function addCharge(charges: Map<string, Charge>, visitor: AccessRequest, access: Access | null, now: Date): Pending {
  const refusal = refusalOf(visitor, access, now)
  const caller = access?.caller ?? null
  const [subject, budget] =
    caller && !refusal ? [`k:${caller.keyId}`, caller.budget] : [`a:${visitor.address}`, addressBudget]
  let charge = charges.get(subject)
  if (!charge) {
    charge = { subject, amount: 0, budget, granted: 0, used: 0, msLeft: 0 }
    charges.set(subject, charge)
  }
  charge.amount++
  return { caller, refusal, charge }
}

function settle({ caller, refusal, charge }: Pending): AccessDecision {
  const isGranted = charge.granted > 0
  // The first of those granted found this many left, the last of them as many as are left now.
  if (isGranted) charge.granted--
  const limit = charge.budget
  const remaining = isGranted ? limit - charge.used + charge.granted : 0
  const budget = { limit, remaining, resetSeconds: secondsLeft(charge.msLeft) }
  const why = isGranted ? refusal : overLimit(budget)
  return why ? { kind: 'refused', refusal: why, caller, budget } : { kind: 'admitted', caller, budget }
}

function overLimit({ limit, resetSeconds }: RateLimitState): Refusal {
  return new Refusal('rate_limited', {
    details: { limit, retry_after: resetSeconds },
    headers: { 'Retry-After': String(resetSeconds) },
  })
}

/** Whole seconds until the window is over: never 0, which would invite a retry inside it. */
export const secondsLeft = (msLeft: number): number => Math.min(60, Math.max(1, Math.ceil(msLeft / 1000)))
