import type { Clock } from '../../../../lib/clock.ts'
import type { LeasedDelivery, Pace } from '../first-attempts.ts'

/**
 * A second, and how much closer together two attempts may arrive than they began: without that, the receiver could count more
 * than the rate in one second.
 */
const secondMs = 1_020
/** An eighth of the rate in a tenth of a second: no bursts, and a delay can be made up for. */
const shortMs = 100
const shortShare = 8

/**
 * Limits the first attempts of a replay: at most `rate` begin in any second. An attempt is taken some time before it
 * begins, so taken attempts count too. Only the process that runs the replay has its pace. It takes nothing once its
 * lease on the replay has ended: another process may run it by then.
 */
export class StartPace implements Pace {
  readonly replayId: string
  /** When the lease on the replay ends. */
  ownedUntil = new Date(0)
  readonly #clock: Clock
  readonly #limits: readonly [Begun, Begun]
  readonly #taken = new Set<LeasedDelivery>()
  #waitsUntilMs = Number.NEGATIVE_INFINITY

  constructor(replayId: string, rate: number, clock: Clock) {
    this.replayId = replayId
    this.#clock = clock
    this.#limits = [new Begun(rate, secondMs), new Begun(Math.ceil(rate / shortShare), shortMs)]
  }

  mayTake(): boolean {
    const nowMs = performance.now()
    if (nowMs < this.#waitsUntilMs || !this.isOwned) return false
    return this.#limits.every((limit) => limit.mayBegin(nowMs, this.#taken.size))
  }

  get isOwned(): boolean {
    return this.#clock.now() < this.ownedUntil
  }

  take(item: LeasedDelivery): void {
    this.#taken.add(item)
  }

  begin(item: LeasedDelivery): void {
    this.#taken.delete(item)
    const nowMs = performance.now()
    for (const limit of this.#limits) limit.add(nowMs)
  }

  end(item: LeasedDelivery): void {
    this.#taken.delete(item)
  }

  /** Others may make first attempts of this replay just now: waits until they are a second ago. */
  wait(): void {
    this.#waitsUntilMs = performance.now() + secondMs
  }
}

/** The times of the last `max` attempts. In no time of `withinMs` begin more. */
class Begun {
  readonly #max: number
  readonly #withinMs: number
  readonly #atMs: number[]
  /** The oldest. */
  #next = 0

  constructor(max: number, withinMs: number) {
    this.#max = max
    this.#withinMs = withinMs
    this.#atMs = new Array<number>(max).fill(Number.NEGATIVE_INFINITY)
  }

  /** `taken` attempts are about to begin, and this one. */
  mayBegin(nowMs: number, taken: number): boolean {
    const free = this.#max - taken
    if (free <= 0) return false
    const before = this.#atMs[(this.#next + this.#max - free) % this.#max] as number
    return before <= nowMs - this.#withinMs
  }

  add(nowMs: number): void {
    this.#atMs[this.#next] = nowMs
    this.#next = (this.#next + 1) % this.#max
  }
}
