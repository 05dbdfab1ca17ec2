/** A page of a list that is ordered by time and ID (keyset pagination): how many rows, and after which row. */
export interface KeySet {
  take: number
  after: { at: Date; id: string } | null
  order: 'asc' | 'desc'
}
