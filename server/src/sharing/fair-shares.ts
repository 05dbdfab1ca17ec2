/**
 * Places that owners share. An owner may take one while it has fewer than are free: alone it gets half of them, two busy
 * owners get a third each, and so on. So a busy owner always leaves places for later owners. The members of an owner
 * may share what is left for it in the same way.
 */
export class FairShares {
  readonly #total: number
  /** By owner, and by member. */
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

  hasLeft(owner: string): boolean {
    return this.takenBy(owner) < this.#total - this.#sum
  }

  /** Takes a place. False if the owner has its share already. */
  take(owner: string): boolean {
    if (!this.hasLeft(owner)) return false
    this.add(owner)
    return true
  }

  /** Takes a place for a member of the owner. False if one of them has its share already, or the member has `most`. */
  takeFor(member: string, owner: string, most: number): boolean {
    const taken = this.takenBy(member)
    // Each that the owner takes leaves one fewer for it and for the others.
    const left = Math.ceil((this.#total - this.#sum - this.takenBy(owner)) / 2)
    if (taken >= most || taken >= left) return false
    this.#change(member, 1)
    this.add(owner)
    return true
  }

  /** Counts a place that is taken whether or not the owner has one left. */
  add(owner: string): void {
    this.#change(owner, 1)
    this.#sum++
  }

  release(owner: string, count = 1): void {
    this.#change(owner, -count)
    this.#sum -= count
  }

  releaseFor(member: string, owner: string, count = 1): void {
    this.#change(member, -count)
    this.release(owner, count)
  }

  #change(name: string, change: number): void {
    const count = this.takenBy(name) + change
    if (count > 0) this.#taken.set(name, count)
    else this.#taken.delete(name)
  }
}
