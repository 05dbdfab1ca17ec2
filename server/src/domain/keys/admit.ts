import type { Db } from '../../db/db.ts'
import { type AddressRange, isWithin, readRange } from '../../lib/addresses.ts'
import { batched } from '../../lib/batch.ts'
import type { Clock } from '../../lib/clock.ts'
import { forgetOldest } from '../../lib/forget-oldest.ts'
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

interface Presented {
  asked: Asked
  /** Of a key that could be one. */
  digest: string | null
}

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

  /** Brings the copies of the batch's keys up to one revision, and says which. */
  async function refresh(batch: readonly Presented[], revision: number): Promise<number> {
    for (let current = revision; ; ) {
      const stale = new Set<string>()
      for (const { digest } of batch) {
        if (digest !== null && copies.get(digest)?.revision !== current) stale.add(digest)
      }
      if (stale.size === 0) return current
      const read = await readAccess(db, [...stale])
      current = read.revision
      const found = new Map(read.rows.map((row) => [row.digest, toAccess(row)]))
      for (const digest of stale) {
        copies.delete(digest)
        copies.set(digest, { revision: current, access: found.get(digest) ?? null })
      }
      forgetOldest(copies, maxCopies + batch.length)
    }
  }

  async function admitAll(batch: Presented[]): Promise<Admission[]> {
    for (let tries = 0; tries < 100; tries++) {
      const revision = await refresh(batch, known)
      const now = clock.now()
      const judged = batch.map(({ asked, digest }) =>
        judge(asked, digest === null ? null : (copies.get(digest)?.access ?? null), now),
      )
      const result = await keeper.charge(revision, [...chargesOf(judged, spent, now).values()])
      known = result.revision
      if (result.revision === revision) return settle(judged, result.charged, spent, now)
    }
    // Somebody who makes keys in a loop changes them every other round trip; a hundred times in a row nobody does.
    throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
  }

  const join = batched(admitAll, { maxItems: 1000 })
  return (asked) => {
    const secret = asked.public ? undefined : secretOf(asked.authorization)
    return join({ asked, digest: secret === undefined ? null : digestOf(secret) })
  }
}

interface Access {
  caller: Caller
  /** What the key's budget is counted under. */
  subject: string
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
    subject: `k:${row.key_id}`,
    ranges: row.allowed_ranges.map(readRange).filter((range): range is AddressRange => !('fault' in range)),
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    suspended: row.suspended_at !== null,
  }
}

/** The order of checks, up to the budget; what is refused here is charged to the address. */
function judge(asked: Asked, access: Access | null, now: Date): Judged {
  const refusal = asked.public ? null : refusalOf(asked, access, now)
  const caller = access?.caller ?? null
  return access && !refusal
    ? { caller, refusal, subject: access.subject, limit: access.caller.budget }
    : { caller, refusal, subject: `a:${asked.address}`, limit: addressBudget }
}

function refusalOf(asked: Asked, access: Access | null, now: Date): Refusal | null {
  if (!access) return unknownKey(asked.authorization)
  const { caller, revokedAt, expiresAt } = access
  if (revokedAt) return deadKey('key_revoked', caller, 'revoked_at', revokedAt)
  if (expiresAt && expiresAt <= now) return deadKey('key_expired', caller, 'expired_at', expiresAt)
  if (access.suspended) return new Refusal('workspace_suspended')
  if (access.ranges.length > 0 && !isWithin(asked.address, access.ranges)) {
    return new Refusal('ip_not_allowed', { details: { ip: asked.address } })
  }
  return null
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
function chargesOf(judged: readonly Judged[], spent: Spent, now: Date): Map<string, Charge> {
  const charges = new Map<string, Charge>()
  for (const { subject, limit } of judged) {
    const known = spent.size === 0 ? undefined : spent.get(subject)
    if (known && known.limit === limit && known.until > now.getTime()) continue
    const charge = charges.get(subject)
    if (charge) charge.amount++
    else charges.set(subject, { subject, amount: 1, budget: limit })
  }
  return charges
}

function settle(judged: readonly Judged[], charged: readonly Charged[], spent: Spent, now: Date): Admission[] {
  const open = new Map<string, Charged>()
  for (const each of charged) open.set(each.subject, each)
  return judged.map(({ subject, limit, refusal, caller }) => {
    const window = open.get(subject)
    if (window && window.granted > 0) {
      // The first of those granted found this many left, the last of them as many as are left now.
      window.granted--
      const remaining = limit - window.used + window.granted
      const budget = { limit, remaining, resetSeconds: secondsLeft(window.msLeft) }
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
