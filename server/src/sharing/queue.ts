/** A first-in, first-out queue. Unlike `Array.shift`, it does not move the remaining items on each shift. */
export class Queue<Item> {
  #items: (Item | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  shift(): Item | undefined {
    const item = this.#items[this.#head]
    if (item === undefined) return undefined
    this.#items[this.#head++] = undefined
    if (this.#head > 1000 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }

  clear(): Item[] {
    const rest = this.#items.slice(this.#head) as Item[]
    this.#items = []
    this.#head = 0
    return rest
  }
}
