import type { Db } from '../../db/db.ts'
import { type AddressRange, isWithin, readRange } from '../../lib/addresses.ts'
import { batched } from '../../lib/batch.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Admission, Admit, Budget, Caller } from '../../lib/gate.ts'
import { Refusal } from '../../lib/refuse.ts'
import { type AccessRow, type Charge, type Charged, readAccess } from './admission.sql.ts'
import type { Keeper } from './keeper.ts'
import { digestOf, secretOf } from './secret.ts'

/**
 * The gate. Each request waits for one statement that began after the request came in, shared with every other request
 * that came in meanwhile. That statement names the access revision: while it is the one our copies of keys were read at,
 * the copies are right; when it is not, nothing was charged, and the batch is judged again on fresh copies. So a revoked
 * key or a changed budget counts from the next request on, in every process, and an ordinary request costs no look-up.
 */
export const addressBudget = 600
const maxCopies = 20_000

type Asked = Parameters<Admit>[0]

interface Judged {
  caller: Caller | null
  refusal: Refusal | null
  subject: string
  limit: number
}

export function newGate(db: Db, clock: Clock, keeper: Keeper): Admit {
  const copies = new Map<string, { revision: number; access: Access | null }>()
  const spent = new Map<string, { limit: number; until: number }>()
  let known = 0

  /** Brings the copies of these keys up to one revision, and says which. */
  async function refresh(digests: string[], revision: number): Promise<number> {
    for (let current = revision; ; ) {
      const stale = digests.filter((digest) => copies.get(digest)?.revision !== current)
      if (stale.length === 0) return current
      const read = await readAccess(db, stale)
      current = read.revision
      const found = new Map(read.rows.map((row) => [row.digest, toAccess(row)]))
      for (const digest of stale) {
        copies.delete(digest)
        copies.set(digest, { revision: current, access: found.get(digest) ?? null })
      }
      forgetOldest(copies, maxCopies + digests.length)
    }
  }

  async function admitAll(batch: { asked: Asked; digest: string | null }[]): Promise<Admission[]> {
    const digests = [...new Set(batch.flatMap(({ digest }) => digest ?? []))]
    for (let tries = 0; tries < 100; tries++) {
      const revision = await refresh(digests, known)
      const now = clock.now()
      const judged = batch.map(({ asked, digest }) =>
        judge(asked, digest ? (copies.get(digest)?.access ?? null) : null, now),
      )
      const result = await keeper.charge(revision, chargesOf(judged, spent, now))
      known = result.revision
      if (result.revision === revision) return settle(judged, result.charged, spent, now)
    }
    // Somebody who makes keys in a loop changes them every other round trip; a hundred times in a row nobody does.
    throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
  }

  const join = batched(admitAll, { maxItems: 1000, maxUnderWay: 2 })
  return (asked) => {
    const secret = asked.public ? undefined : secretOf(asked.authorization)
    return join({ asked, digest: secret === undefined ? null : digestOf(secret) })
  }
}

interface Access {
  caller: Caller
  ranges: AddressRange[]
  expiresAt: Date | null
  revokedAt: Date | null
  suspended: boolean
}

function toAccess(row: AccessRow): Access {
  return {
    caller: {
      workspaceId: row.workspace_id,
      keyId: row.key_id,
      keyName: row.key_name,
      scopes: row.scopes,
      budget: row.budget,
    },
    ranges: row.allowed_ranges.map(readRange).filter((range): range is AddressRange => !('fault' in range)),
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    suspended: row.suspended_at !== null,
  }
}

/** The order of checks, up to the budget; what is refused here is charged to the address. */
function judge(asked: Asked, access: Access | null, now: Date): Judged {
  const refused = (refusal: Refusal | null): Judged => ({
    caller: access?.caller ?? null,
    refusal,
    subject: `a:${asked.address}`,
    limit: addressBudget,
  })
  if (asked.public) return refused(null)
  if (!access) return refused(unknownKey(asked.authorization))
  const { caller, revokedAt, expiresAt } = access
  if (revokedAt) return refused(deadKey('key_revoked', caller, 'revoked_at', revokedAt))
  if (expiresAt && expiresAt <= now) return refused(deadKey('key_expired', caller, 'expired_at', expiresAt))
  if (access.suspended) return refused(new Refusal('workspace_suspended'))
  if (access.ranges.length > 0 && !isWithin(asked.address, access.ranges)) {
    return refused(new Refusal('ip_not_allowed', { details: { ip: asked.address } }))
  }
  return { caller, refusal: null, subject: `k:${caller.keyId}`, limit: caller.budget }
}

function unknownKey(authorization: string | undefined): Refusal {
  const parts = authorization === undefined ? { message: 'The Authorization header is missing.' } : {}
  return new Refusal('invalid_key', { ...parts, headers: { 'WWW-Authenticate': 'Bearer' } })
}

function deadKey(code: 'key_revoked' | 'key_expired', caller: Caller, since: string, at: Date): Refusal {
  return new Refusal(code, {
    details: { key_id: caller.keyId, [since]: at.toISOString() },
    headers: { 'WWW-Authenticate': 'Bearer error="invalid_token"' },
  })
}

type Spent = Map<string, { limit: number; until: number }>

/** One charge a subject. A budget known to be used up until its window ends is not asked for again. */
function chargesOf(judged: readonly Judged[], spent: Spent, now: Date): Charge[] {
  const charges = new Map<string, Charge>()
  for (const { subject, limit } of judged) {
    const known = spent.get(subject)
    if (known && known.limit === limit && known.until > now.getTime()) continue
    const charge = charges.get(subject)
    if (charge) charge.amount++
    else charges.set(subject, { subject, amount: 1, budget: limit })
  }
  return [...charges.values()]
}

function settle(judged: readonly Judged[], charged: readonly Charged[], spent: Spent, now: Date): Admission[] {
  const open = new Map(charged.map((each) => [each.subject, { ...each, next: each.used - each.granted }]))
  return judged.map(({ subject, limit, refusal, caller }) => {
    const window = open.get(subject)
    if (window && window.next < window.used) {
      window.next++
      const budget = { limit, remaining: limit - window.next, resetSeconds: secondsLeft(window.msLeft) }
      return refusal ? { kind: 'refused', refusal, caller, budget } : { kind: 'admitted', caller, budget }
    }
    if (window) {
      spent.set(subject, { limit, until: now.getTime() + window.msLeft })
      forgetOldest(spent, maxCopies)
    }
    const msLeft = window?.msLeft ?? (spent.get(subject)?.until ?? now.getTime()) - now.getTime()
    const budget = { limit, remaining: 0, resetSeconds: secondsLeft(msLeft) }
    return { kind: 'refused', refusal: overBudget(budget), caller, budget }
  })
}

function overBudget({ limit, resetSeconds }: Budget): Refusal {
  return new Refusal('rate_limited', {
    details: { limit, retry_after: resetSeconds },
    headers: { 'Retry-After': String(resetSeconds) },
  })
}

/** Whole seconds until the window rolls over: never 0, which would invite a retry inside it. */
export const secondsLeft = (msLeft: number): number => Math.min(60, Math.max(1, Math.ceil(msLeft / 1000)))

function forgetOldest(map: Map<string, unknown>, max: number): void {
  for (const key of map.keys()) {
    if (map.size <= max) return
    map.delete(key)
  }
}
