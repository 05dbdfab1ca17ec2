/**
 * Places that owners share. An owner may take one while it has fewer than are free: alone it gets half of them, two busy
 * owners get a third each, and so on. So a busy owner always leaves places for those that come later.
 */
export class FairShares {
  readonly #total: number
  readonly #taken = new Map<string, number>()
  #sum = 0

  constructor(total: number) {
    this.#total = total
  }

  /** How many places are taken, by all owners together. */
  get taken(): number {
    return this.#sum
  }

  takenBy(owner: string): number {
    return this.#taken.get(owner) ?? 0
  }

  /** How many places the owner could take now: each that it takes leaves one fewer for it and for the others. */
  left(owner: string): number {
    return Math.max(0, Math.ceil((this.#total - this.#sum - this.takenBy(owner)) / 2))
  }

  /** Takes a place. False if the owner has its share already. */
  take(owner: string): boolean {
    if (this.left(owner) === 0) return false
    this.#taken.set(owner, this.takenBy(owner) + 1)
    this.#sum++
    return true
  }

  release(owner: string, count = 1): void {
    const left = this.takenBy(owner) - count
    if (left > 0) this.#taken.set(owner, left)
    else this.#taken.delete(owner)
    this.#sum -= count
  }
}
