import { expect, test } from 'vitest'
import { excerptOf } from './excerpt.ts'
import { hasWords, searchedWords, wordLength, wordsMax, wordsOf } from './words.ts'

test('words are in lower case, without accents and signs, each once', () => {
  expect(wordsOf('Où est MON vélo? Mon “Vélo” (bleu)!')).toEqual(['ou', 'est', 'mon', 'velo', 'bleu'])
  expect(wordsOf('Straße, İstanbul, Łódź, ΣΊΣΥΦΟΣ, ёлка')).toEqual(['strasse', 'istanbul', 'lodz', 'σισυφοσ', 'елка'])
  // Full-width letters, ligatures and digits of other forms.
  expect(wordsOf('ＨＥＬＬＯ ﬁne ①')).toEqual(['hello', 'fine', '1'])
  expect(wordsOf('order-7_b 100% 12.50 a@b.example')).toEqual(['order', '7', 'b', '100', '12', '50', 'a', 'example'])
  expect(wordsOf(' ¿? … — % _ \\ ')).toEqual([])
})

test('an emoji is a word, and marks that a script needs stay', () => {
  expect(wordsOf('late🚲❤️')).toEqual(['late', '🚲', '❤'])
  expect(wordsOf('हिन्दी')).toEqual(['हिन्दी'])
  expect(wordsOf('مَرْحَبًا')).toEqual(wordsOf('مرحبا'))
})

test('of scripts without spaces, pairs of characters are words', () => {
  expect(wordsOf('東京タワーA')).toEqual(['東京', '京タ', 'タワ', 'ワー', 'ー', 'a'])
  expect(searchedWords('京タワ')).toEqual(['京タ', 'タワ'])
  for (const part of ['東', '京タワ', 'ワー', 'タワー a'])
    expect(hasWords('東京タワーA', searchedWords(part)), part).toBe(true)
  expect(hasWords('東京タワーA', searchedWords('東タ'))).toBe(false)
  expect(hasWords('สวัสดีครับ', searchedWords('ครับ'))).toBe(true)
})

test('a search finds words by their beginning, all of them, in any order', () => {
  const text = 'Hello, your Bicycle is late'
  for (const q of ['hel', 'LATE bic', 'hello your bicycle is late', 'bíc']) {
    expect(hasWords(text, searchedWords(q)), q).toBe(true)
  }
  for (const q of ['ello', 'hello zebra', 'bicycles']) expect(hasWords(text, searchedWords(q)), q).toBe(false)
})

test('long words are cut, and long texts have a limit', () => {
  const long = 'x'.repeat(100)
  expect(wordsOf(long)).toEqual(['x'.repeat(wordLength)])
  expect(hasWords(long, searchedWords(long))).toBe(true)
  expect(wordsOf(Array.from({ length: 1_000 }, (_, n) => `w${n}`).join(' '))).toHaveLength(wordsMax)
})

test('the excerpt of a text is its beginning if the word that was found begins there, however long that is', () => {
  const text = `Hello ${'東京'.repeat(80)} end`
  expect(excerptOf(text, '京東')).toMatch(/^Hello 東京/)
  expect(excerptOf(`${'word '.repeat(40)}bicycle`, 'bicycle')).toMatch(/^…word .*bicycle$/)
})
