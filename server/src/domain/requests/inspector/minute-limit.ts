/** A request takes less time than this, in minutes. */
const earlierMax = 10

/** Characters that each workspace may still store in the current minute. Its memory is freed every minute. */
export class MinuteLimit {
  readonly #max: number
  readonly #used = new Map<string, number>()
  #minute = 0

  constructor(max: number) {
    this.#max = max
  }

  /** Whether anything is left. To be asked before `take`, because it moves on to the minute of `at`. */
  has(workspaceId: string, at: Date): boolean {
    const minute = Math.floor(at.getTime() / 60_000)
    // A request that waited has an earlier time. It counts in the current minute, unless the clock was set back.
    if (minute > this.#minute || minute < this.#minute - earlierMax) {
      this.#minute = minute
      this.#used.clear()
    }
    return (this.#used.get(workspaceId) ?? 0) < this.#max
  }

  /** False if it would be more than is left. Then nothing is taken. */
  take(workspaceId: string, characters: number): boolean {
    const used = (this.#used.get(workspaceId) ?? 0) + characters
    if (used > this.#max) return false
    this.#used.set(workspaceId, used)
    return true
  }
}
