import { deleteOldest } from './delete-oldest.ts'

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

  /** Counts one, unless the window is full already. */
  count(key: string, now: Date): { count: number; endsAt: Date; isFull: boolean } {
    const { max, windowMs, maxKeys } = this.#limits
    const at = now.getTime()
    let window = this.#windows.get(key)
    // A window in the future was opened before the clock was set back.
    if (!window || Math.abs(at - window.openedAt) >= windowMs) {
      this.#windows.delete(key)
      window = { openedAt: at, count: 0 }
      this.#windows.set(key, window)
      deleteOldest(this.#windows, maxKeys)
    }
    const isFull = window.count >= max
    if (!isFull) window.count++
    return { count: window.count, endsAt: new Date(window.openedAt + windowMs), isFull }
  }

  get size(): number {
    return this.#windows.size
  }
}
