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

export const msLeftOf = ({ openedMs }: Window, nowMs: number): number => openedMs + windowMs - nowMs

/** The windows of budgets, in memory: the same arithmetic as `chargeBudgets` does in the database. */
export class Windows {
  readonly #open = new Map<string, Window>()

  charge(charges: Iterable<Charge>, nowMs: number): void {
    for (const charge of charges) {
      const window = this.at(charge.subject, nowMs)
      charge.granted = Math.max(0, Math.min(charge.amount, charge.budget - window.used))
      window.used += charge.granted
      charge.used = window.used
      charge.msLeft = msLeftOf(window, nowMs)
    }
  }

  /** The window that a charge falls into at this moment. */
  at(subject: string, nowMs: number): Window {
    const known = this.#open.get(subject)
    if (known !== undefined && msLeftOf(known, nowMs) > 0) return known
    const window = { subject, openedMs: nowMs, used: 0, loaded: 0 }
    this.#open.set(subject, window)
    return window
  }

  put(window: Window): void {
    this.#open.set(window.subject, window)
  }

  /** Those that are not over. */
  current(nowMs: number): Window[] {
    return [...this.#open.values()].filter((window) => msLeftOf(window, nowMs) > 0)
  }

  forgetPast(nowMs: number): void {
    for (const [subject, window] of this.#open) if (msLeftOf(window, nowMs) <= 0) this.#open.delete(subject)
  }
}
