import { maxBehindMs } from '../../lib/database-settings.ts'
import { type Position, whyOther } from './replica-position.ts'

/** How often the positions are compared, and how often while something waits for the replica. */
const compareEveryMs = { usually: 1_000, whileWaiting: 250 }

/** After a failure, the replica is not used for this long, so that occasional failures do not switch it every second. */
const awayMs = 10_000

const tooFarBehind = `It is more than ${maxBehindMs / 1000} seconds behind, or does not respond.`

export interface ReplicaWatchOptions {
  readPrimary(): Promise<Position>
  readStandby(): Promise<Position>
  onUsed(): void
  onLeft(reason: string): void
  onSilent(): void
}

export interface ReplicaState {
  /** Why the console does not read from it; null if it does. */
  readonly whyLeft: string | null
  /** How old its state may be. Infinity if that is unknown. */
  readonly behindMs: number
}

/** Knows whether the replica is up to date. Times are those of this process, so clocks may differ. */
export class ReplicaWatch implements ReplicaState {
  readonly #options: ReplicaWatchOptions
  readonly #timer: NodeJS.Timeout
  #state: 'new' | 'used' | 'left' = 'new'
  #reason = 'It was not compared with the primary yet.'
  #leftAt = Number.NEGATIVE_INFINITY
  readonly #openedAt = performance.now()
  /** The replica has everything that was committed before this time. */
  #currentAt = Number.NEGATIVE_INFINITY
  /** Positions of the primary that the replica has not replayed, each with a time before it was read. */
  #ahead: { wal: number; at: number }[] = []
  #waiting: { at: number; show: () => void }[] = []
  #comparedAt = Number.NEGATIVE_INFINITY
  #comparing: Promise<void> | null = null

  constructor(options: ReplicaWatchOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), compareEveryMs.whileWaiting).unref()
    this.#look()
  }

  get isUsable(): boolean {
    return this.#state === 'used' && this.behindMs <= maxBehindMs
  }

  get whyLeft(): string | null {
    return this.#state === 'used' ? null : this.#reason
  }

  get behindMs(): number {
    return performance.now() - this.#currentAt
  }

  /**
   * Calls `show` as soon as a read in any process sees everything that is committed now. If this process does not use the
   * replica, other processes may still do: then it calls `show` immediately, and again when their reads see it too.
   */
  whenReadable(show: () => void): void {
    this.#waiting.push({ at: performance.now(), show })
    this.#showWaiting()
  }

  leave(reason: string): void {
    this.#reason = reason
    this.#currentAt = Number.NEGATIVE_INFINITY
    if (this.#state === 'left') return
    this.#state = 'left'
    this.#leftAt = performance.now()
    this.#options.onLeft(reason)
    this.#showWaiting()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#comparing
  }

  #look(): void {
    const now = performance.now()
    // A comparison may hang.
    if (this.#state !== 'left' && now - Math.max(this.#currentAt, this.#openedAt) > maxBehindMs) {
      this.leave(tooFarBehind)
      if (this.#comparing && now - this.#comparedAt > compareEveryMs.usually) this.#options.onSilent()
    }
    this.#showWaiting()
    const everyMs = this.#waiting.length > 0 ? compareEveryMs.whileWaiting : compareEveryMs.usually
    if (this.#comparing || now - this.#comparedAt < everyMs) return
    this.#comparedAt = now
    this.#comparing = this.#compare()
      .catch((error: Error & { code?: string }) =>
        // An error of several addresses has no message.
        this.leave(`It cannot be compared with the primary: ${error.message || error.code}.`),
      )
      .finally(() => {
        this.#comparing = null
      })
  }

  async #compare(): Promise<void> {
    const at = performance.now()
    const primary = await this.#options.readPrimary()
    const standby = await this.#options.readStandby()
    const reason = whyOther(primary, standby)
    if (reason !== null) return this.leave(reason)
    const replayed = standby.wal ?? 0
    const known = [...this.#ahead, { wal: primary.wal ?? Number.POSITIVE_INFINITY, at }]
    for (const each of known) if (each.wal <= replayed) this.#currentAt = Math.max(this.#currentAt, each.at)
    this.#ahead = known.filter((each) => each.wal > replayed && each.at > at - maxBehindMs)
    if (this.#state === 'left' && this.behindMs > maxBehindMs) this.#reason = tooFarBehind
    if (this.#state !== 'used' && this.behindMs <= maxBehindMs && at > this.#leftAt + awayMs) {
      this.#state = 'used'
      this.#options.onUsed()
    }
    this.#showWaiting()
  }

  #showWaiting(): void {
    const now = performance.now()
    const isLeft = this.#state === 'left'
    const isReady = ({ at }: { at: number }) => isLeft || at <= this.#currentAt || at <= now - maxBehindMs
    const ready = this.#waiting.filter(isReady)
    this.#waiting = this.#waiting.filter((each) => !isReady(each))
    for (const { at, show } of ready) {
      show()
      if (isLeft && at > now - maxBehindMs) setTimeout(show, at + maxBehindMs - now).unref()
    }
  }
}
