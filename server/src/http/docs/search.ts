import { editDistance } from '../../lib/edit-distance.ts'

/** A section of a page. */
export interface SearchEntry {
  href: string
  title: string
  /** Empty for the beginning of a page. */
  heading: string
  /** What the page is about, at its beginning. */
  summary?: string
  text: string
  terms?: readonly string[]
  /** Less than 1 for sections that readers rarely search for. */
  weight?: number
}

export interface SearchResult extends SearchEntry {
  /** Where the words are, with a few words around them. */
  excerpt: string
}

export type Search = (query: string, max: number) => SearchResult[]

interface Indexed {
  entry: SearchEntry
  /** A query that is one of them means the section. */
  names: ReadonlySet<string>
  /** Of the important words of its name. */
  stems: string[]
}

/**
 * Finds sections of the documentation. A section has all words of the query, or if there is none, as many as possible. A word
 * is also found by its beginning, in singular and plural, and if nothing else fits, with a typing mistake. Everyone may search, so
 * a query takes a few milliseconds at most: single letters are not looked for, typing mistakes in some words only, and not in
 * their first letter.
 */
export function newSearch(entries: readonly SearchEntry[], synonyms: Readonly<Record<string, string>> = {}): Search {
  const index: Indexed[] = entries.map((entry) => ({ entry, ...nameOf(entry) }))
  const places = new Map<string, Place[]>()
  for (const [at, entry] of entries.entries()) {
    for (const [word, weight] of weightsOf(entry)) {
      const known = places.get(word)
      if (known) known.push({ at, weight })
      else places.set(word, [{ at, weight }])
    }
  }
  const isKnown = new Set(places.keys())
  const vocabulary = [...isKnown].map((word) => ({ word, stem: stemOf(word) }))
  return (query, max) => {
    const asked = queryWords(query, isKnown)
    if (asked.length === 0) return []
    let corrections = correctedMax
    const meanings = asked.map((word) => {
      const known = meaningsOf(word, vocabulary)
      const same = Object.hasOwn(synonyms, word) ? synonyms[word] : undefined
      for (const [meant, likely] of same ? meaningsOf(same, vocabulary) : [])
        known.set(meant, Math.max(likely, known.get(meant) ?? 0))
      return known.size > 0 || word.length < 4 || corrections-- <= 0 ? known : correctionsOf(word, vocabulary)
    })
    const name = query.trim().toLowerCase()
    const stems = asked.map(stemOf)
    const scoresOf = meanings.map((meaning) => scoresBy(meaning, places))
    const found = index.flatMap((each, at) => {
      const scores = scoresOf.map((scores) => scores.get(at) ?? 0)
      const matched = scores.filter((score) => score > 0).length
      if (matched === 0) return []
      const isName = each.names.has(name)
      const score = scores.reduce((sum, one) => sum + one, isName ? 100 : isAllOf(each.stems, stems) ? 5 : 0)
      return [{ entry: each.entry, matched, score: score * (each.entry.weight ?? 1) }]
    })
    const most = Math.max(0, ...found.map(({ matched }) => matched))
    // With half of the words or fewer it would be about something else.
    if (most < asked.length && most * 2 <= asked.length) return []
    const words = new Set(meanings.flatMap((meaning) => [...meaning.keys()]))
    return found
      .filter(({ matched }) => matched === most)
      .sort((one, other) => other.score - one.score)
      .slice(0, max)
      .map(({ entry }) => ({ ...entry, excerpt: excerptOf(entry.text, words) }))
  }
}

/** `message.received` and `invalid_key` are words, and so are their parts. */
const wordPattern = /[\p{L}\d]+(?:[._-][\p{L}\d]+)*/gu

const partsOf = (word: string): string[] => word.split(/[._-]/)

const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(wordPattern) ?? []).flatMap((word) => [word, ...partsOf(word)])

/** An entry that has a word, by its index, and what the word counts there. */
interface Place {
  at: number
  weight: number
}

function weightsOf(entry: SearchEntry): Map<string, number> {
  const weights = new Map<string, number>()
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(text)) weights.set(word, Math.max(weight, weights.get(word) ?? 0))
  }
  // A word says more about a short text.
  add(entry.text, 1 + 1 / (1 + entry.text.length / 500))
  add(entry.title, entry.heading === '' ? 10 : 3)
  add(entry.summary ?? '', 7)
  for (const term of entry.terms ?? []) add(term, 5)
  add(entry.heading, 6)
  return weights
}

function nameOf(entry: SearchEntry): Omit<Indexed, 'entry'> {
  const name = (entry.heading || entry.title).toLowerCase()
  const words = (name.match(wordPattern) ?? []).filter((word) => !unimportant.has(word))
  const names = new Set([name, ...(entry.terms ?? []).map((term) => term.toLowerCase())])
  return { names, stems: words.map(stemOf) }
}

/** Whether a query has all words of a name. The last one may not be typed to its end yet. */
const isAllOf = (stems: readonly string[], asked: readonly string[]): boolean =>
  stems.length > 0 && stems.every((stem) => asked.includes(stem) || stem.startsWith(asked.at(-1) ?? ' '))

const unimportant = new Set(
  'a an and are can do does for how i in is it my of on or the to what when where which why with'.split(' '),
)
const maxWords = 8
/** In how many words of a query typing mistakes are looked for. */
const correctedMax = 3

function queryWords(query: string, isKnown: ReadonlySet<string>): string[] {
  const typed = query.toLowerCase().match(wordPattern) ?? []
  const parts = typed.flatMap((word) => (isKnown.has(word) ? [word] : partsOf(word)))
  const words = [...new Set(parts)].filter((word) => word.length > 1)
  const important = words.filter((word) => !unimportant.has(word))
  return (important.length > 0 ? important : words).slice(0, maxWords)
}

interface KnownWord {
  word: string
  stem: string
}

/** The known words that a typed word may mean, with how likely that is. */
function meaningsOf(word: string, vocabulary: readonly KnownWord[]): Map<string, number> {
  const meanings = new Map<string, number>()
  const wanted = stemOf(word)
  for (const { word: known, stem } of vocabulary) {
    const likely = known === word ? 1 : stem === wanted ? 0.9 : likelyPart(word, known)
    if (likely > 0) meanings.set(known, likely)
  }
  return meanings
}

/** The known words that differ from a typed word by a typing mistake. */
function correctionsOf(word: string, vocabulary: readonly KnownWord[]): Map<string, number> {
  const most = word.length < 8 ? 1 : 2
  const near = vocabulary.filter((known) => beginsAs(word, known.word) && editDistance(word, known.word, most) <= most)
  const meant = new Set(near.map(({ stem }) => stem))
  return new Map(vocabulary.flatMap(({ word: known, stem }) => (meant.has(stem) ? [[known, 0.3]] : [])))
}

/** With the same letter, or with the first two swapped. */
const beginsAs = (word: string, known: string): boolean =>
  known[0] === word[0] || (known[0] === word[1] && known[1] === word[0])

function likelyPart(word: string, known: string): number {
  if (known.startsWith(word)) return 0.6
  return word.length > 2 && known.includes(word) ? 0.3 : 0
}

/** Without the endings of plural and of verbs, as far as that needs no dictionary: `retries`, `webhooks`, `verifying`. */
const stemOf = (word: string): string =>
  word.length < 4
    ? word
    : word
        .replace(/(?:ies|ied)$/, 'y')
        .replace(/(?<=s|x|ch|sh)es$/, '')
        .replace(/(?<![su])s$/, '')
        .replace(/(?<=\w{4})(?:ing|ed)$/, '')
        .replace(/(?<=\w{4})e$/, '')

/** How well a word of the query fits, by entry. It reads only the entries that have a word it may mean. */
function scoresBy(
  meaning: ReadonlyMap<string, number>,
  places: ReadonlyMap<string, readonly Place[]>,
): Map<number, number> {
  const scores = new Map<number, number>()
  for (const [word, likely] of meaning) {
    for (const { at, weight } of places.get(word) ?? []) {
      if (likely * weight > (scores.get(at) ?? 0)) scores.set(at, likely * weight)
    }
  }
  return scores
}

const excerptMax = 160

function excerptOf(text: string, words: ReadonlySet<string>): string {
  // Stops at the first one: texts are long.
  const first = text.matchAll(wordPattern).find(([word]) => wordsOf(word).some((each) => words.has(each)))
  const from = Math.max(0, (first?.index ?? 0) - 60)
  const start = from === 0 ? 0 : text.indexOf(' ', from) + 1
  const end = text.length <= start + excerptMax ? text.length : text.lastIndexOf(' ', start + excerptMax)
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`
}
