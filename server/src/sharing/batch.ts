import { Turns } from './turns.ts'

export interface BatchLimits<Item> {
  maxItems?: number
  maxConcurrent?: number
  /** The minimum time between the starts of two batches, so that more items share one. A full batch, or one after a pause, starts immediately. */
  gapMs?: number
  sizeOf?: (item: Item) => number
  /** The owner of an item. If more items wait than fit into a batch, owners take turns. Without it, a batch takes the oldest items. */
  ownerOf?: (item: Item) => string
}

/**
 * Collects the items that arrive while a batch runs into the next batch. A single item waits only until the end of the
 * current event loop iteration. Under load the batches grow, so the number of round trips stays small.
 */
export function batched<Item, Result>(
  work: (items: Item[]) => Promise<Result[]>,
  { maxItems = 500, maxConcurrent = 1, gapMs = 0, sizeOf = () => 1, ownerOf }: BatchLimits<Item> = {},
): (item: Item) => Promise<Result> {
  interface Waiting {
    item: Item
    resolve: (result: Result) => void
    reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  let waitingSize = 0
  let running = 0
  let scheduled = false
  let gapTimer: NodeJS.Timeout | undefined
  /** When the last batch began, in `performance.now()` time. */
  let lastMs = Number.NEGATIVE_INFINITY

  function schedule(): void {
    if (scheduled || running >= maxConcurrent || waiting.length === 0) return
    const waitMs = gapMs === 0 || waitingSize >= maxItems ? 0 : lastMs + gapMs - performance.now()
    if (waitMs > 0) {
      gapTimer ??= setTimeout(startBatch, waitMs)
      return
    }
    clearTimeout(gapTimer)
    scheduled = true
    setImmediate(startBatch)
  }

  function startBatch(): void {
    scheduled = false
    gapTimer = undefined
    lastMs = performance.now()
    if (ownerOf && waiting.length > maxItems) waiting = inTurn(waiting, ({ item }) => ownerOf(item))
    void runBatch(waiting.splice(0, countThatFits()))
  }

  /** How many of the waiting items fit into one batch. The first one always does. */
  function countThatFits(): number {
    let count = 0
    let sum = 0
    for (const { item } of waiting) {
      const size = sizeOf(item)
      if (count > 0 && sum + size > maxItems) break
      sum += size
      count++
    }
    waitingSize -= sum
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
      waitingSize += sizeOf(item)
      schedule()
    })
}

/** The first item of each owner, then the second of each, and so on. */
function inTurn<Item>(items: readonly Item[], ownerOf: (item: Item) => string): Item[] {
  const turns = new Turns<Item>()
  for (const item of items) turns.add(ownerOf(item), item)
  return items.map(() => turns.next((item) => item) as Item)
}
