import type { Person } from './sources.sql.ts'
import { hasWords } from './words.ts'

/** A number with a trunk zero, as in 0170 1234567, has at least so many digits. */
const nationalLength = 7

/** The digits of a part of a phone number, at least three, with and without leading zeros. Empty if the text is no number. */
export function digitsIn(q: string): string[] {
  if (!/^\+?[\d\s().-]+$/.test(q)) return []
  const digits = q.replaceAll(/\D/g, '')
  if (digits.length < 3 || digits.length > 20) return []
  const national = digits.replace(/^0+/, '')
  return digits.startsWith('0') && national.length >= nationalLength ? [digits, national] : [digits]
}

/** Whether a part of a number is its beginning or its end, or the name has all words. */
export const isPerson = ({ number, name }: Person, words: readonly string[], digits: readonly string[]): boolean =>
  (number !== null && digits.some((each) => number.startsWith(each) || number.endsWith(each))) ||
  (name !== null && words.length > 0 && hasWords(name, words))

/** Each person once, with the name that they wrote with, if it is known. */
export function distinct(people: readonly Person[]): Person[] {
  const byId = new Map<string, Person>()
  for (const person of people) {
    const id = person.number ?? person.userId
    if (id === null) continue
    const known = byId.get(id)
    if (!known || (known.name === null && person.name !== null)) byId.set(id, person)
  }
  return [...byId.values()]
}
