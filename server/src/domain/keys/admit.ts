import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { forgetOldest } from '../../lib/forget-oldest.ts'
import type { Admission, Admit, Budget, Visitor } from '../../lib/gate.ts'
import { Refusal } from '../../lib/refuse.ts'
import { newAccessReader, refusalOf } from './access.ts'
import { type Charge, readAccess } from './admission.sql.ts'
import { Copies, type Copy } from './copies.ts'
import type { Keeper } from './keeper.ts'
import { digestOf, hasRightSum, presentedIn } from './secret.ts'
import { msLeftOf, type Window } from './windows.ts'

/**
 * The gate. Each request waits for one statement that began after the request came in, shared with every other request
 * that came in meanwhile. That statement names the access revision: while it is the one our copies of keys were read at,
 * the copies are right; when it is not, nothing was charged, and the batch is judged again on fresh copies. So a revoked
 * key or a changed budget counts from the next request on, in every process, and an ordinary request costs no look-up.
 * Where the keeper is certain of the revision without asking, they are decided at the end of the turn they came in with.
 */
export const addressBudget = 600
const maxCopies = 20_000
/** With fewer waiting, those that are about to come are waited for, until the end of the turn. */
const enoughToDepart = 24
const maxTogether = 1000

/** A request that waits to be decided, and what is known of it so far. */
interface Waiting {
  visitor: Visitor
  /** Of a key that could be one. */
  digest: string | null
  copy: Copy | undefined
  refusal: Refusal | null
  /** The budget it is charged to. */
  subject: string
  limit: number
  /** Null: that budget is known to be used up. */
  charge: Charge | null
}

export function newGate(db: Db, clock: Clock, keeper: Keeper): Admit {
  const copies = new Copies()
  const toAccess = newAccessReader()
  const spent: Spent = new Map()
  let known = 0
  let waiting: Waiting[] = []
  let isUnderWay = false

  /** Brings the copies of the batch's keys up to one revision, and says which. */
  async function refresh(batch: readonly Waiting[], revision: number): Promise<number> {
    for (let current = revision; ; ) {
      const stale = new Set<string>()
      for (const each of batch) {
        if (each.digest === null || each.copy?.revision === current) continue
        each.copy = copies.get(each.digest)
        if (each.copy?.revision !== current) stale.add(each.digest)
      }
      if (stale.size === 0) return current
      const read = await readAccess(db, [...stale])
      current = read.revision
      const found = new Map(read.rows.map((row) => [row.digest, toAccess(row)]))
      const fresh = new Map<string, Copy>()
      for (const digest of stale) {
        fresh.set(digest, { digest, revision: current, access: found.get(digest) ?? null })
      }
      for (const each of batch) each.copy = fresh.get(each.digest ?? '') ?? each.copy
      copies.put(fresh.values(), maxCopies)
    }
  }

  /** Charges each request of the batch to its budget. */
  async function chargeAll(batch: readonly Waiting[]): Promise<Date> {
    for (let tries = 0; tries < 100; tries++) {
      const revision = await refresh(batch, known)
      const now = clock.now()
      known = await keeper.charge(revision, chargesOf(batch, spent, now))
      if (known === revision) return now
    }
    // Somebody who makes keys in a loop changes them every other round trip; a hundred times in a row nobody does.
    throw new Refusal('service_unavailable', { headers: { 'Retry-After': '1' } })
  }

  async function admitAll(batch: readonly Waiting[]): Promise<void> {
    let now: Date | undefined
    for (const { visitor } of batch) visitor.waits()
    try {
      now = await chargeAll(batch)
    } catch (error) {
      for (const { visitor } of batch) visitor.failed(error)
    }
    // If it is worth it, the next statement travels while these are being answered.
    const isNextUnderWay = waiting.length >= enoughToDepart
    if (isNextUnderWay) depart()
    if (now) for (const each of batch) each.visitor.decided(settle(each, spent, now))
    if (!isNextUnderWay) arrive()
  }

  /** Without a look into the database, where the keeper needs none. */
  function admitAtOnce(batch: readonly Waiting[]): boolean {
    for (const { digest, copy } of batch) if (digest !== null && copy?.revision !== known) return false
    const windows = keeper.leased(known)
    if (!windows) return false
    const now = clock.now()
    for (const each of batch) {
      judge(each, now)
      each.visitor.decided(takeOne(each, windows.at(each.subject, now.getTime()), now))
    }
    return true
  }

  function arrive(): void {
    isUnderWay = false
    if (waiting.length > 0) plan()
  }

  /** What comes in while a batch is under way is the next one. */
  function plan(): void {
    if (isUnderWay) return
    isUnderWay = true
    setImmediate(depart)
  }

  function depart(): void {
    const batch = waiting.length > maxTogether ? waiting.splice(0, maxTogether) : waiting
    if (batch === waiting) waiting = []
    if (admitAtOnce(batch)) arrive()
    else void admitAll(batch)
  }

  return (visitor) => {
    const text = visitor.isPublic ? undefined : presentedIn(visitor.authorization)
    let digest = text === undefined ? null : digestOf(text)
    const copy = digest === null ? undefined : copies.get(digest)
    // What we have a copy of has had its sum checked.
    if (text !== undefined && !copy && !hasRightSum(text)) digest = null
    waiting.push({ visitor, digest, copy, refusal: null, subject: '', limit: 0, charge: null })
    plan()
  }
}

type Spent = Map<string, { limit: number; until: number }>

/** What is refused, and what is public, is charged to the address it came from; everything else to its key. */
function judge(each: Waiting, now: Date): void {
  const access = each.copy?.access ?? null
  each.refusal = refusalOf(each.visitor, access, now)
  const paysItself = access !== null && each.refusal === null
  each.subject = paysItself ? access.subject : `a:${each.visitor.address}`
  each.limit = paysItself ? access.caller.budget : addressBudget
}

/** One charge a subject. A budget known to be used up until its window ends is not asked for again. */
function chargesOf(batch: readonly Waiting[], spent: Spent, now: Date): Map<string, Charge> {
  const charges = new Map<string, Charge>()
  for (const each of batch) {
    judge(each, now)
    const { subject, limit } = each
    const known = spent.size === 0 ? undefined : spent.get(subject)
    if (known && known.limit === limit && known.until > now.getTime()) {
      each.charge = null
      continue
    }
    let charge = charges.get(subject)
    if (!charge) {
      charge = { subject, amount: 0, budget: limit, granted: 0, used: 0, msLeft: 0 }
      charges.set(subject, charge)
    }
    charge.amount++
    each.charge = charge
  }
  return charges
}

function settle(each: Waiting, spent: Spent, now: Date): Admission {
  const { subject, limit, charge } = each
  if (charge && charge.granted > 0) {
    // The first of those granted found this many left, the last of them as many as are left now.
    charge.granted--
    const remaining = limit - charge.used + charge.granted
    return admissionOf(each, { limit, remaining, resetSeconds: secondsLeft(charge.msLeft) }, true)
  }
  if (charge) {
    spent.set(subject, { limit, until: now.getTime() + charge.msLeft })
    forgetOldest(spent, maxCopies)
  }
  const msLeft = charge?.msLeft ?? (spent.get(subject)?.until ?? now.getTime()) - now.getTime()
  return admissionOf(each, { limit, remaining: 0, resetSeconds: secondsLeft(msLeft) }, false)
}

/** The same with the window itself, for one. */
function takeOne(each: Waiting, window: Window, now: Date): Admission {
  const { limit } = each
  const isGranted = window.used < limit
  if (isGranted) window.used++
  const resetSeconds = secondsLeft(msLeftOf(window, now.getTime()))
  return admissionOf(each, { limit, remaining: Math.max(0, limit - window.used), resetSeconds }, isGranted)
}

function admissionOf({ copy, refusal }: Waiting, budget: Budget, isGranted: boolean): Admission {
  const caller = copy?.access?.caller ?? null
  const why = isGranted ? refusal : overBudget(budget)
  return why ? { kind: 'refused', refusal: why, caller, budget } : { kind: 'admitted', caller, budget }
}

function overBudget({ limit, resetSeconds }: Budget): Refusal {
  return new Refusal('rate_limited', {
    details: { limit, retry_after: resetSeconds },
    headers: { 'Retry-After': String(resetSeconds) },
  })
}

/** Whole seconds until the window rolls over: never 0, which would invite a retry inside it. */
export const secondsLeft = (msLeft: number): number => Math.min(60, Math.max(1, Math.ceil(msLeft / 1000)))
