interface BatchLimits<Item> {
  /** In one batch. */
  maxItems?: number
  /** Batches at a time. */
  maxUnderWay?: number
  /** What an item counts for, if not one. */
  sizeOf?: (item: Item) => number
}

/**
 * Gathers what arrives while a batch is under way into the next one. Alone, an item leaves at the end of the current
 * turn of the event loop; under load, batches grow by themselves and the number of round trips stays small.
 */
export function batched<Item, Answer>(
  work: (items: Item[]) => Promise<Answer[]>,
  { maxItems = 500, maxUnderWay = 1, sizeOf }: BatchLimits<Item> = {},
): (item: Item) => Promise<Answer> {
  interface Waiting {
    item: Item
    resolve: (response: Answer) => void
    reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  let underWay = 0
  let planned = false

  function plan(): void {
    if (planned || underWay >= maxUnderWay || waiting.length === 0) return
    planned = true
    setImmediate(depart)
  }

  function depart(): void {
    planned = false
    const count = sizeOf ? fitting(sizeOf) : maxItems
    const batch = waiting.length > count ? waiting.splice(0, count) : waiting
    if (batch === waiting) waiting = []
    void travel(batch)
  }

  /** How many of those that wait have no more than the most together; the first always. */
  function fitting(size: (item: Item) => number): number {
    let count = 0
    let sum = 0
    for (const { item } of waiting) {
      sum += size(item)
      if (count > 0 && sum > maxItems) break
      count++
    }
    return count
  }

  async function travel(batch: Waiting[]): Promise<void> {
    underWay++
    try {
      const responses = await work(batch.map((each) => each.item))
      for (let index = 0; index < batch.length; index++) batch[index]?.resolve(responses[index] as Answer)
    } catch (error) {
      for (const each of batch) each.reject(error)
    } finally {
      underWay--
      plan()
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      plan()
    })
}
