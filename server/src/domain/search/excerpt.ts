import { hasWords, searchedWords } from './words.ts'

const shownLength = 120
/** What is shown before the word that was found. */
const before = 30

/** The beginning of a text or, if the first word of the search is later, the part with that word. */
export function excerptOf(text: string, q: string): string {
  const [first] = searchedWords(q)
  const found = [...text.matchAll(/[\p{L}\p{N}\p{M}]+/gu)].find(
    ([word]) => first !== undefined && hasWords(word, [first]),
  )
  const at = found?.index ?? 0
  if (at <= before || at + (found?.[0].length ?? 0) <= shownLength) return cut(text)
  return `…${cut(text.slice(at - before).replace(/^\S*\s+/, ''))}`
}

const cut = (text: string): string => (text.length <= shownLength ? text : `${text.slice(0, shownLength).trimEnd()}…`)
