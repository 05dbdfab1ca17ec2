/** A page of a list that is ordered by time and id: how many rows, and after which one. */
export interface KeySet {
  take: number
  after: { at: Date; id: string } | null
  order: 'asc' | 'desc'
}
