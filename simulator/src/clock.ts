/** Time as the simulator sees it. `after` runs something once, later, and returns the way to call it off. */
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
    // Node fires at once on a longer delay than this; the far future is waited for in pieces.
    const longestMs = 2 ** 31 - 1
    let timer = setTimeout(tick, Math.min(delayMs, longestMs), delayMs)
    function tick(leftMs: number) {
      if (leftMs <= longestMs) return run()
      timer = setTimeout(tick, Math.min(leftMs - longestMs, longestMs), leftMs - longestMs)
    }
    return () => clearTimeout(timer)
  },
}

interface Waiting {
  at: number
  order: number
  run: () => void
}

/** A clock that stands still until it is told to move. What is due now runs by itself; only the future waits. */
export class ManualClock implements Clock {
  #nowMs: number
  #order = 0
  #waiting = new Set<Waiting>()

  constructor(start: Date = new Date('2026-09-01T12:00:00Z')) {
    this.#nowMs = start.getTime()
  }

  now(): Date {
    return new Date(this.#nowMs)
  }

  after(delayMs: number, run: () => void): Cancel {
    if (delayMs <= 0) return systemClock.after(0, run)
    const waiting = { at: this.#nowMs + delayMs, order: this.#order++, run }
    this.#waiting.add(waiting)
    return () => this.#waiting.delete(waiting)
  }

  /** Moves time forward and runs everything that falls due on the way, in order, each at its own time. */
  async advance(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#waiting.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.at)
      next.run()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#nowMs = endMs
  }

  #next(endMs: number): Waiting | undefined {
    let first: Waiting | undefined
    for (const waiting of this.#waiting) {
      if (waiting.at > endMs) continue
      if (!first || waiting.at < first.at || (waiting.at === first.at && waiting.order < first.order)) first = waiting
    }
    return first
  }
}

/** The timers of one simulator: they can all be called off at once, and asked whether any is about to run. */
export class Timers {
  readonly clock: Clock
  #cancels = new Set<Cancel>()
  #due = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** How many were asked to run at once and have not yet. */
  get due(): number {
    return this.#due
  }

  now(): Date {
    return this.clock.now()
  }

  after(delayMs: number, run: () => void): Cancel {
    const dueNow = delayMs <= 0
    if (dueNow) this.#due++
    const settle = () => {
      if (this.#cancels.delete(forget) && dueNow) this.#due--
    }
    const cancel = this.clock.after(delayMs, () => {
      settle()
      run()
    })
    const forget = () => {
      cancel()
      settle()
    }
    this.#cancels.add(forget)
    return forget
  }

  cancelAll(): void {
    for (const cancel of [...this.#cancels]) cancel()
  }
}
