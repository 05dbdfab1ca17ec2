/** A page of a list that is ordered by time and id: how many rows, and after which one. */
export interface KeySet {
  take: number
  after: { at: Date; id: string } | null
  order: 'asc' | 'desc'
}

/**
 * The end of a statement that reads one page, by `created_at` and `id`; `keySetValues` are its parameters, from `$first`
 * on. Each case has a text of its own, so that each has a plan that the index fits.
 */
export function keySetClause({ after, order }: KeySet, first: number): string {
  const [at, id, take] = [`$${first}::timestamptz`, `$${first + 1}::uuid`, `$${first + 2}::int`]
  const follows = order === 'desc' ? '<' : '>'
  const place = after ? `(created_at, id) ${follows} (${at}, ${id})` : `${at} is null and ${id} is null`
  return `and ${place} order by created_at ${order}, id ${order} limit ${take}`
}

export const keySetValues = ({ after, take }: KeySet): [Date | null, string | null, number] => [
  after?.at ?? null,
  after?.id ?? null,
  take,
]
