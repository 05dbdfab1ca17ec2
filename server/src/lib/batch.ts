/**
 * Gathers what arrives while a batch is under way into the next one. Alone, an item leaves at the end of the current
 * turn of the event loop; under load, batches grow by themselves and the number of round trips stays small.
 */
export function batched<Item, Answer>(
  work: (items: Item[]) => Promise<Answer[]>,
  { maxItems = 500, maxUnderWay = 1 } = {},
): (item: Item) => Promise<Answer> {
  interface Waiting {
    item: Item
    resolve: (answer: Answer) => void
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
    const batch = waiting.length > maxItems ? waiting.splice(0, maxItems) : waiting
    if (batch === waiting) waiting = []
    void travel(batch)
  }

  async function travel(batch: Waiting[]): Promise<void> {
    underWay++
    try {
      const answers = await work(batch.map((each) => each.item))
      for (let index = 0; index < batch.length; index++) batch[index]?.resolve(answers[index] as Answer)
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
