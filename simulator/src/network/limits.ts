/** A token bucket: allows a burst of `capacity`, then `perSecond`. */
class Bucket {
  #tokens: number
  #atMs: number

  constructor(capacity: number, nowMs: number) {
    this.#tokens = capacity
    this.#atMs = nowMs
  }

  take(capacity: number, perSecond: number, nowMs: number, force: boolean): boolean {
    this.#tokens = Math.min(capacity, this.#tokens + ((nowMs - this.#atMs) / 1000) * perSecond)
    this.#atMs = nowMs
    // Tolerates rounding errors: the refill is a sum of fractions.
    if (this.#tokens < 1 - 1e-9 && !force) return false
    this.#tokens = Math.max(0, this.#tokens - 1)
    return true
  }
}

const pairBurst = 45
const pairPerSecond = 1 / 6
const maxPairs = 20_000

/** The two rate limits: messages per second of a number, and messages to the same phone. */
export class Limits {
  #numbers = new Map<string, Bucket>()
  #pairs = new Map<string, Bucket>()
  /** How often a magic number has failed so far. */
  #refusals = new Map<string, number>()

  takeThroughput(numberId: string, mps: number, nowMs: number, force = false): boolean {
    const bucket = this.#numbers.get(numberId) ?? new Bucket(mps, nowMs)
    this.#numbers.set(numberId, bucket)
    return bucket.take(mps, mps, nowMs, force)
  }

  takePair(numberId: string, waId: string, nowMs: number): boolean {
    const key = `${numberId} ${waId}`
    const bucket = this.#pairs.get(key) ?? new Bucket(pairBurst, nowMs)
    this.#pairs.set(key, bucket)
    if (this.#pairs.size > maxPairs) {
      const [oldest] = this.#pairs.keys()
      if (oldest !== undefined) this.#pairs.delete(oldest)
    }
    return bucket.take(pairBurst, pairPerSecond, nowMs, false)
  }

  /** True for the first `times` requests. The next one passes, and counting starts again. */
  shouldRefuse(numberId: string, waId: string, times: number): boolean {
    const key = `${numberId} ${waId}`
    const soFar = this.#refusals.get(key) ?? 0
    if (soFar >= times) {
      this.#refusals.delete(key)
      return false
    }
    this.#refusals.set(key, soFar + 1)
    return true
  }

  clear(): void {
    this.#numbers.clear()
    this.#pairs.clear()
    this.#refusals.clear()
  }
}
