import { RoutingChanged } from './inbound.ts'

export type Outcome<Result> = { kind: 'stored'; result: Result } | { kind: 'failed'; error: unknown }

export function throwIfFailed(outcome: Outcome<unknown>): void {
  if (outcome.kind === 'failed') throw outcome.error
}

/** Stores a batch. If that fails, stores each item alone, so that a bad one does not affect the others. */
export function withOneByOneFallback<Item, Result>(storeBatch: (items: readonly Item[]) => Promise<Result[]>) {
  return async function storeEach(items: readonly Item[]): Promise<Outcome<Result>[]> {
    try {
      return (await storeBatch(items)).map((result) => ({ kind: 'stored', result }))
    } catch (error) {
      if (items.length === 1 || error instanceof RoutingChanged) return items.map(() => ({ kind: 'failed', error }))
      const outcomes: Outcome<Result>[] = []
      for (const item of items) outcomes.push(...(await storeEach([item])))
      return outcomes
    }
  }
}
