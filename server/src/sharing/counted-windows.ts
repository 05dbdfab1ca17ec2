import { deleteOldest } from '../lib/delete-oldest.ts'

/**
 * Counts by key in windows that begin with the first count, in memory of this process. It keeps a limited number of keys;
 * beyond that the oldest windows are forgotten.
 */
export class CountedWindows {
  readonly #limits: { max: number; windowMs: number; maxKeys: number }
  /** In the order in which the windows were opened. */
  readonly #windows = new Map<string, { openedAt: number; count: number }>()

  constructor(limits: { max: number; windowMs: number; maxKeys: number }) {
    this.#limits = limits
  }

  /** Counts one or an amount, unless the window is full already. */
  count(key: string, now: Date, amount = 1): { count: number; endsAt: Date; isFull: boolean } {
    const { max, windowMs, maxKeys } = this.#limits
    let window = this.#open(key, now)
    if (!window) {
      this.#windows.delete(key)
      window = { openedAt: now.getTime(), count: 0 }
      this.#windows.set(key, window)
      deleteOldest(this.#windows, maxKeys)
    }
    const isFull = window.count >= max
    if (!isFull) window.count += amount
    return { count: window.count, endsAt: new Date(window.openedAt + windowMs), isFull }
  }

  isFull(key: string, now: Date): boolean {
    return (this.#open(key, now)?.count ?? 0) >= this.#limits.max
  }

  get size(): number {
    return this.#windows.size
  }

  #open(key: string, now: Date) {
    const window = this.#windows.get(key)
    // A window in the future was opened before the clock was set back.
    return window && Math.abs(now.getTime() - window.openedAt) < this.#limits.windowMs ? window : undefined
  }
}
