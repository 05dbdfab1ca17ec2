import { expect, test } from 'vitest'
import { adviceFor, sentencesOf } from './sentences.ts'

const textsOf = (markdown: string): string[] => sentencesOf(markdown).map(({ text }) => text)

test('a paragraph is one text across its lines, and code counts as one word', () => {
  expect(sentencesOf('# Title\n\nRun `npm run check`, then\ncommit. It is [fast](https://a.example/b).')).toEqual([
    { line: 3, text: 'Run CODE, then commit.' },
    { line: 3, text: 'It is fast.' },
  ])
})

test('a table cell, a list item and a step of a flow end a sentence', () => {
  expect(textsOf('| a | b |\n| --- | --- |\n| one; part | another \\| one |')).toEqual([
    'a',
    'b',
    '---',
    '---',
    'one',
    'part',
    'another \\| one',
  ])
  expect(textsOf('- first\n  item\n- second item\n1. third')).toEqual(['first item', 'second item', 'third'])
  expect(textsOf('The request → its handler → 202.')).toEqual(['The request', 'its handler', '202.'])
})

test('code blocks, headings and comments have no sentences', () => {
  expect(textsOf('# What it is\n\n```sh\nWhat now\n```\n\n<!-- What now\nand then -->\n\nText.')).toEqual(['Text.'])
  expect(textsOf('**What it costs.** Text.')).toEqual(['Text.'])
})

test('a sentence may have 30 words', () => {
  const words = (count: number): string => `${Array.from({ length: count }, () => 'word').join(' – ')}.`
  expect(adviceFor(words(30))).toEqual([])
  expect(adviceFor(words(31))).toEqual([expect.stringContaining('31 words')])
})

test.each([
  ['What the filter leaves out is not stored.', 1],
  ['What does it cost?', 0],
  ['A key that no longer exists is rejected.', 1],
  ['The version before it wrote no epoch.', 1],
  ['Earlier versions did not check it.', 1],
  ['The field names the API version.', 0],
])('%s', (text, count) => {
  expect(adviceFor(text)).toHaveLength(count)
})
