/** The words of a text, as they are stored and searched for: in lower case, without accents. */
import type { Found, Kind } from './sources.sql.ts'

/** A longer word is cut. */
export const wordLength = 32
/** The words of an object that are stored. */
export const wordsMax = 200
/** The words of a search. */
const searchedMax = 8

/** Letters that are not a letter and an accent in Unicode. */
const folded: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ı: 'i',
  ς: 'σ',
}

/** Accents of Latin, Greek and Cyrillic letters, Hebrew points and Arabic vowels. Other scripts need their marks. */
const accents = /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]/g

const fold = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replaceAll(accents, '')
    .normalize('NFC')
    .replaceAll(/[ßæœøłđðþıς]/g, (letter) => folded[letter] ?? letter)

/** Letters, digits and their marks; or one emoji. */
const word = /[\p{L}\p{N}][\p{L}\p{N}\p{M}]*|\p{Extended_Pictographic}/gu
/** Parts of a word in a script without spaces between words, and the other parts. */
const parts =
  /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]+|[^\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]+/gu
const unspaced = /^[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]/u

/** Each word of a text once. Of a script without spaces, all pairs of characters, and the last character. */
export const wordsOf = (text: string): string[] => read(text, wordsMax, (pairs, last) => [...pairs, last])

/** The words of a search, each of which is the beginning of a stored one. */
export const searchedWords = (text: string): string[] =>
  read(text, searchedMax, (pairs, last) => (pairs.length === 0 ? [last] : pairs))

/** How words of a search begin in the index, which has single characters of scripts without spaces. */
export const indexedBeginnings = (words: readonly string[]): string[] => [
  ...new Set(words.flatMap((word) => (unspaced.test(word) ? [...word] : [word]))),
]

/** Whether a single character is worth a search: an emoji, or one of a script without spaces. */
export const isWholeWord = (text: string): boolean => unspaced.test(text) || /\p{Extended_Pictographic}/u.test(text)

/** Whether each word of a search is the beginning of a word of the text. */
export function hasWords(text: string, searched: readonly string[]): boolean {
  const words = wordsOf(text)
  return searched.every((beginning) => words.some((each) => each.startsWith(beginning)))
}

function read(text: string, max: number, combine: (pairs: string[], last: string) => string[]): string[] {
  const found = new Set<string>()
  for (const [run] of fold(text).matchAll(word)) {
    for (const [part] of run.matchAll(parts)) {
      for (const each of unspaced.test(part) ? combine(...pairsOf(part)) : [cut(part)]) {
        found.add(each)
        if (found.size === max) return [...found]
      }
    }
  }
  return [...found]
}

function pairsOf(part: string): [string[], string] {
  const characters = [...part]
  return [
    characters.slice(1).map((character, index) => `${characters[index]}${character}`),
    characters.at(-1) as string,
  ]
}

const cut = (part: string): string => (part.length <= wordLength ? part : [...part].slice(0, wordLength).join(''))

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
