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
  expect(table(headings, rows, '', 30)[1]).toBe(`${id.slice(0, 29)}…`)
})

test('files and pipes get everything', () => {
  expect(table(headings, rows, '')[1]).toBe([id, rows[0]?.[1], rows[0]?.[2], 'active'].join('  '))
  expect(table(headings, [], 'None yet.', 10)).toEqual(['None yet.'])
})
