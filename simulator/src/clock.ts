/** The simulator's time. `after` runs a function once after a delay and returns a function that cancels it. */
export interface Clock {
  now(): Date
  after(delayMs: number, run: () => void): Cancel
}

export type Cancel = () => void

export const systemClock: Clock = {
  now: () => new Date(),
  after(delayMs, run) {
    if (delayMs <= 0) {
      const immediate = setImmediate(run)
      return () => clearImmediate(immediate)
    }
    // Node fires immediately on a longer delay than this, so long delays are split.
    const longestMs = 2 ** 31 - 1
    let timer = setTimeout(tick, Math.min(delayMs, longestMs), delayMs)
    function tick(leftMs: number) {
      if (leftMs <= longestMs) return run()
      timer = setTimeout(tick, Math.min(leftMs - longestMs, longestMs), leftMs - longestMs)
    }
    return () => clearTimeout(timer)
  },
}

interface Pending {
  at: number
  order: number
  run: () => void
}

/** A clock that can be moved forward. */
export interface AdvancingClock extends Clock {
  /** Moves time forward and runs the timers that become due, in order, each at its own time. */
  advance(byMs: number): Promise<void>
}

export const canAdvance = (clock: Clock): clock is AdvancingClock => 'advance' in clock

/** The system clock, which can also be moved forward. */
export class MovableClock implements AdvancingClock {
  /** How far it is ahead of the system clock. */
  #aheadMs = 0
  readonly #pending = new Set<{ at: number; run: () => void; cancel: Cancel }>()

  now(): Date {
    return new Date(Date.now() + this.#aheadMs)
  }

  after(delayMs: number, run: () => void): Cancel {
    const pending = { at: this.now().getTime() + delayMs, run, cancel: () => {} }
    this.#arm(pending)
    return () => {
      this.#pending.delete(pending)
      pending.cancel()
    }
  }

  async advance(byMs: number): Promise<void> {
    const end = this.#aheadMs + byMs
    const dueUntil = () => Date.now() + end
    for (let next = this.#earliest(dueUntil()); next !== undefined; next = this.#earliest(dueUntil())) {
      next.cancel()
      this.#pending.delete(next)
      this.#aheadMs = Math.max(this.#aheadMs, next.at - Date.now())
      next.run()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#aheadMs = end
    for (const pending of this.#pending) {
      pending.cancel()
      this.#arm(pending)
    }
  }

  #arm(pending: { at: number; run: () => void; cancel: Cancel }): void {
    this.#pending.add(pending)
    pending.cancel = systemClock.after(pending.at - this.now().getTime(), () => {
      this.#pending.delete(pending)
      pending.run()
    })
  }

  #earliest(until: number) {
    return [...this.#pending].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
  }
}

/** A clock that moves only with `advance`. Timers without a delay still run immediately. */
export class ManualClock implements AdvancingClock {
  #nowMs: number
  #order = 0
  #pending = new Set<Pending>()

  constructor(start: Date = new Date('2026-09-01T12:00:00Z')) {
    this.#nowMs = start.getTime()
  }

  now(): Date {
    return new Date(this.#nowMs)
  }

  after(delayMs: number, run: () => void): Cancel {
    if (delayMs <= 0) return systemClock.after(0, run)
    const pending = { at: this.#nowMs + delayMs, order: this.#order++, run }
    this.#pending.add(pending)
    return () => this.#pending.delete(pending)
  }

  async advance(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#pending.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.at)
      next.run()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#nowMs = endMs
  }

  #next(endMs: number): Pending | undefined {
    let first: Pending | undefined
    for (const pending of this.#pending) {
      if (pending.at > endMs) continue
      if (!first || pending.at < first.at || (pending.at === first.at && pending.order < first.order)) first = pending
    }
    return first
  }
}

/** The timers of one simulator. They can all be canceled together, and `due` counts those about to run. */
export class Timers {
  readonly clock: Clock
  #cancels = new Set<Cancel>()
  #due = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Timers without a delay that have not run yet. */
  get due(): number {
    return this.#due
  }

  now(): Date {
    return this.clock.now()
  }

  after(delayMs: number, run: () => void): Cancel {
    const dueNow = delayMs <= 0
    if (dueNow) this.#due++
    const remove = () => {
      if (this.#cancels.delete(cancelTimer) && dueNow) this.#due--
    }
    const cancel = this.clock.after(delayMs, () => {
      remove()
      run()
    })
    const cancelTimer = () => {
      cancel()
      remove()
    }
    this.#cancels.add(cancelTimer)
    return cancelTimer
  }

  cancelAll(): void {
    for (const cancel of [...this.#cancels]) cancel()
  }
}
