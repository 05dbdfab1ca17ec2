import { expect, test } from 'vitest'
import { table } from './table.ts'

const id = '01a1e8a4-b02e-72a6-8205-1404b104990f'
const rows = [[id, 'A name that is rather long', 'https://example.com/a/long/path', 'active']]
const headings = ['ID', 'NAME', 'URL', 'STATE']

test('in a terminal, rows are cut to its width, and IDs stay whole', () => {
  for (const columns of [80, 100]) {
    const lines = table(headings, rows, '', columns)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
    expect(lines[1]).toContain(id)
    expect(lines[1]).toContain('…')
    expect(lines[1]).toMatch(/ active$/)
  }
  expect(table(headings, rows, '', 200)[1]).toBe([id, rows[0]?.[1], rows[0]?.[2], 'active'].join('  '))
})

test('files and pipes get everything', () => {
  expect(table(headings, rows, '')[1]).toBe([id, rows[0]?.[1], rows[0]?.[2], 'active'].join('  '))
  expect(table(headings, [], 'None yet.', 10)).toEqual(['None yet.'])
})

test('in a narrow terminal, each row is a list', () => {
  const [more, ...others] = [[...(rows[0] ?? []).slice(0, 3), ''], ...rows]
  expect(table(headings, [more ?? [], ...others], '', 40)).toEqual([
    `ID     ${id}`,
    'NAME   A name that is rather long',
    'URL    https://example.com/a/long/path',
    '',
    `ID     ${id}`,
    'NAME   A name that is rather long',
    'URL    https://example.com/a/long/path',
    'STATE  active',
  ])
})

test('characters of two columns and accents keep the columns aligned', () => {
  const lines = table(
    ['NAME', 'STATE'],
    [
      ['日本語', 'a'],
      ['e\u0301a', 'b'],
      ['ok', 'c'],
    ],
    '',
  )
  expect(lines).toEqual(['NAME    STATE', '日本語  a', 'e\u0301a      b', 'ok      c'])
  expect(table(['ID', 'NAME'], [['1', '日本語日本語日本語']], '', 14)[1]).toBe('1   日本語日…')
})

test('control characters of cells are shown, and do not break the row', () => {
  expect(table(['NAME'], [['a\u001b[2J\nb\u009b2J\u202e']], '')[1]).toBe('a^[[2J b\\u009b2J\\u202e')
})
