import type { Found, Kind } from './sources.sql.ts'

/** What is searched of a form. */
const formLength = 4_000

/** The text of an object that is searched and shown. */
export const textOf = (kind: Kind, { text }: Pick<Found, 'text'>): string =>
  kind === 'form' ? valuesIn(JSON.parse(text)).join(' · ').slice(0, formLength) : text

/** All texts and numbers in a JSON document, without the names of its fields. */
function valuesIn(value: unknown): string[] {
  if (typeof value === 'string' || typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(valuesIn) : []
}
