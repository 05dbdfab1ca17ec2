import type { List } from './contract.ts'

/**
 * A paginated list. It makes no request before it is used. `for await` returns every item and fetches further pages when
 * needed; `await` or `.page()` returns one page.
 */
export interface Pages<Item> extends AsyncIterable<Item>, PromiseLike<List<Item>> {
  /** The first page, or the one after a cursor. */
  page(cursor?: string | null): Promise<List<Item>>
  /** All pages, one after the other. */
  pages(): AsyncIterable<List<Item>>
  /** All items in one array; `max` limits their number. */
  all(options?: { max?: number }): Promise<Item[]>
}

/** `fetchPage` receives a cursor for every page except the first. */
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
