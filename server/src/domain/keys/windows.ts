import type { Charge } from './admission.sql.ts'

const windowMs = 60_000

/** A budget's current minute: it opens with the first request charged to it, and is over 60 seconds later. */
export interface Window {
  subject: string
  openedMs: number
  used: number
  /** What of it stood in the database when it was read from there. */
  loaded: number
}

/** The windows of budgets, in memory: the same arithmetic as `chargeBudgets` does in the database. */
export class Windows {
  readonly #open = new Map<string, Window>()

  chargeAll(charges: Iterable<Charge>, nowMs: number): void {
    for (const charge of charges) this.charge(charge, nowMs)
  }

  charge(charge: Charge, nowMs: number): void {
    const { subject, amount, budget } = charge
    let window = this.#open.get(subject)
    if (window === undefined || window.openedMs <= nowMs - windowMs) {
      window = { subject, openedMs: nowMs, used: 0, loaded: 0 }
      this.#open.set(subject, window)
    }
    charge.granted = Math.max(0, Math.min(amount, budget - window.used))
    window.used += charge.granted
    charge.used = window.used
    charge.msLeft = window.openedMs + windowMs - nowMs
  }

  put(window: Window): void {
    this.#open.set(window.subject, window)
  }

  /** Those that are not over. */
  current(nowMs: number): Window[] {
    return [...this.#open.values()].filter(({ openedMs }) => openedMs > nowMs - windowMs)
  }

  forgetPast(nowMs: number): void {
    for (const [subject, { openedMs }] of this.#open) if (openedMs <= nowMs - windowMs) this.#open.delete(subject)
  }
}
