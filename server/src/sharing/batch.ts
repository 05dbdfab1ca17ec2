import { Turns } from './turns.ts'

export interface BatchLimits<Item> {
  /** The maximum size of a batch. */
  maxItems?: number
  /** How many batches may run at the same time. */
  maxConcurrent?: number
  /** The size of an item; 1 by default. */
  sizeOf?: (item: Item) => number
  /** Whose item it is. If not all waiting items fit into a batch, owners take turns. Without it, the first ones are taken. */
  ownerOf?: (item: Item) => string
}

/**
 * Collects the items that arrive while a batch runs into the next batch. A single item waits only until the end of the
 * current event loop iteration. Under load the batches grow, so the number of round trips stays small.
 */
export function batched<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { maxItems = 500, maxConcurrent = 1, sizeOf, ownerOf }: BatchLimits<Item> = {},
): (item: Item) => Promise<Result> {
  interface Waiting {
    item: Item
    resolve: (result: Result) => void
    reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  let running = 0
  let scheduled = false

  function schedule(): void {
    if (scheduled || running >= maxConcurrent || waiting.length === 0) return
    scheduled = true
    setImmediate(startBatch)
  }

  function startBatch(): void {
    scheduled = false
    if (ownerOf && waiting.length > maxItems) waiting = inTurn(waiting, ({ item }) => ownerOf(item))
    const count = sizeOf ? countThatFits(sizeOf) : maxItems
    const batch = waiting.length > count ? waiting.splice(0, count) : waiting
    if (batch === waiting) waiting = []
    void runBatch(batch)
  }

  /** How many of the waiting items fit into one batch. The first one always does. */
  function countThatFits(size: (item: Item) => number): number {
    let count = 0
    let sum = 0
    for (const { item } of waiting) {
      sum += size(item)
      if (count > 0 && sum > maxItems) break
      count++
    }
    return count
  }

  async function runBatch(batch: Waiting[]): Promise<void> {
    running++
    try {
      const results = await work(batch.map((each) => each.item))
      for (let index = 0; index < batch.length; index++) batch[index]?.resolve(results[index] as Result)
    } catch (error) {
      for (const each of batch) each.reject(error)
    } finally {
      running--
      schedule()
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      schedule()
    })
}

/** The first item of each owner, then the second of each, and so on. */
function inTurn<Item>(items: readonly Item[], ownerOf: (item: Item) => string): Item[] {
  const turns = new Turns<Item>()
  for (const item of items) turns.add(ownerOf(item), item)
  return items.map(() => turns.next((item) => item) as Item)
}
