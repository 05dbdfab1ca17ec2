/** A section of a page. */
export interface SearchEntry {
  /** The address of the section. */
  href: string
  /** The title of the page. */
  title: string
  /** Empty for the beginning of a page. */
  heading: string
  text: string
}

export function search(index: readonly SearchEntry[], query: string, max: number): SearchEntry[]
