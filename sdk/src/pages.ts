import type { List } from './contract.ts'

/**
 * A list of the service. Nothing is asked before it is used. `for await` gives every item and fetches page after page as
 * they are needed; `await` or `.page()` gives one page.
 */
export interface Pages<Item> extends AsyncIterable<Item>, PromiseLike<List<Item>> {
  /** The first page, or the one after a cursor. */
  page(cursor?: string | null): Promise<List<Item>>
  /** Every page, one after the other. */
  pages(): AsyncIterable<List<Item>>
  /** Every item in one array; `max` is for lists that may be long. */
  all(options?: { max?: number }): Promise<Item[]>
}

/** `fetchPage` is given a cursor for any page but the first. */
export function newPages<Item>(fetchPage: (cursor?: string) => Promise<List<Item>>): Pages<Item> {
  const page = (cursor?: string | null) => fetchPage(cursor ?? undefined)
  async function* pages() {
    let cursor: string | null = null
    do {
      const list: List<Item> = await page(cursor)
      yield list
      cursor = list.has_more ? list.next_cursor : null
    } while (cursor !== null)
  }
  async function* items() {
    for await (const list of pages()) yield* list.data
  }
  return {
    page,
    pages,
    async all({ max = Number.POSITIVE_INFINITY } = {}) {
      const all: Item[] = []
      if (max <= 0) return all
      for await (const item of items()) {
        all.push(item)
        if (all.length >= max) break
      }
      return all
    },
    [Symbol.asyncIterator]: items,
    // biome-ignore lint/suspicious/noThenProperty: a list can be awaited for its first page
    then: (resolve, reject) => page().then(resolve, reject),
  }
}
