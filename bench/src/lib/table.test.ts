import { expect, test } from 'vitest'
import { formatNumber, formatResults, formatTable, isMet, type Row } from './table.ts'

const row: Row = { what: 'events', unit: 'events/s', rounds: [300, 100, 200], noise: 3.4 }

/** The cells of the only row of a table. */
function cellsOf(only: Row): string[] {
  const line = formatResults([{ bench: 'deliver', rows: [only], faults: [] }], 'a machine').split('\n')[4] ?? ''
  return line.split('|').map((cell) => cell.trim())
}

test('a row has the median of its rounds, their range, and the noise', () => {
  expect(cellsOf(row)).toEqual(['', 'deliver', 'events', '', '200 events/s', '', '', '100 to 300', '3 %', '', ''])
})

test('a compared row has the median of the ratios, each of the same round, and their range', () => {
  // The medians alone would give 1: both were fast in another round.
  const compared = { ...row, rounds: [100, 400, 200], base: { name: 'raw-limit', rounds: [200, 200, 400] } }
  expect(cellsOf(compared).slice(4, 8)).toEqual(['200 events/s', 'raw-limit: 200 events/s', '0.5', '0.5 to 2'])
})

test('a target is for the ratio if there is one, and otherwise for the value', () => {
  const base = { name: 'raw-limit', rounds: [100] }
  expect(isMet({ ...row, rounds: [60], base, target: { atLeast: 0.6 } })).toBe(true)
  expect(isMet({ ...row, rounds: [59], base, target: { atLeast: 0.6 } })).toBe(false)
  expect(isMet({ ...row, rounds: [99], target: { atMost: 100 } })).toBe(true)
  expect(isMet({ ...row, rounds: [101], target: { atMost: 100 } })).toBe(false)
  expect(isMet(row)).toBeUndefined()
  expect(cellsOf({ ...row, target: { atMost: 100 } }).slice(3)).toEqual(
    expect.arrayContaining(['at most 100 events/s', 'MISSED']),
  )
  expect(cellsOf({ ...row, base: { name: 'raw-limit', rounds: [100, 100, 100] }, target: { atLeast: 0.6 } })).toEqual(
    expect.arrayContaining(['at least 0.6', 'met']),
  )
})

test('a figure that is not known misses its target', () => {
  expect(isMet({ ...row, rounds: [Number.NaN], target: { atMost: 100 } })).toBe(false)
  expect(isMet({ ...row, rounds: [], target: { atLeast: 1 } })).toBe(false)
  expect(cellsOf({ ...row, rounds: [], noise: Number.NaN })).toContain('unknown events/s')
})

test('the results of several benchmarks are one table, with the machine above and what is not valid below', () => {
  const results = [
    { bench: 'deliver', rows: [row], faults: ['3 events missing'] },
    { bench: 'api', rows: [{ ...row, what: 'a | b' }], faults: [] },
    { bench: 'send', rows: [], faults: ['it failed: no disk'] },
  ]
  const lines = formatResults(results, 'a machine').split('\n')
  expect(lines[0]).toBe('a machine')
  expect(lines.filter((line) => line.startsWith('| deliver') || line.startsWith('| api'))).toHaveLength(2)
  expect(lines.join('\n')).toContain('a \\| b')
  expect(lines.slice(-3)).toEqual([
    '- NOT VALID: deliver: 3 events missing',
    '- NOT VALID: send: it failed: no disk',
    '',
  ])
})

test('all lines of a table have the same width', () => {
  const lines = formatTable([
    ['one', 'two'],
    ['a long cell', ''],
    ['', 'x'],
  ])
  expect(new Set(lines.map((line) => line.length)).size).toBe(1)
  expect(lines[1]).toMatch(/^\| -+ \| -+ \|$/)
})

test('numbers have three digits, and large ones are printed in full', () => {
  expect([0.8695, 1, 12.34, 99.96, 123.4, 20_000_000].map(formatNumber)).toEqual([
    '0.87',
    '1',
    '12.3',
    '100',
    '123',
    '20,000,000',
  ])
  expect(formatNumber(Number.NaN)).toBe('unknown')
})
