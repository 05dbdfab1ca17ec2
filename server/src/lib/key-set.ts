/** A page of a list that is ordered by time and ID (keyset pagination): how many rows, and after which row. */
export interface KeySet {
  take: number
  after: Position | null
  order: 'asc' | 'desc'
}

export interface Position {
  at: Date
  id: string
}

export type Placed = { id: string } & ({ created_at: Date } | { at: Date })

export const positionOf = (row: Placed): Position => ({ at: 'at' in row ? row.at : row.created_at, id: row.id })
