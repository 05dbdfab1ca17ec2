import { expect, test } from 'vitest'
import { formatAgo, formatBytes, formatDuration, formatPercent, formatUtc, plural } from './format.ts'

test.each([
  [0.4, '400 µs'],
  [12.4, '12 ms'],
  [1420, '1.42 s'],
  [12_340, '12.3 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
  [86_400_000, '1 d'],
])('%d ms read as %s', (ms, words) => {
  expect(formatDuration(ms)).toBe(words)
})

test('a share below one never reads as all of it', () => {
  expect(formatPercent(0.99996)).toBe('99.9%')
  expect(formatPercent(1)).toBe('100%')
  expect(formatPercent(0)).toBe('0%')
})

test.each([
  [2, 'now'],
  [12, '12 sec. ago'],
  [90, '1 min. ago'],
  [7300, '2 hr. ago'],
  [-200, 'in 3 min.'],
])('%d seconds past reads as %s', (seconds, words) => {
  const now = Date.parse('2026-11-15T06:30:00.000Z')
  expect(formatAgo(new Date(now - seconds * 1000), now)).toBe(words)
})

test('sizes, counts and exact times', () => {
  expect(formatBytes(1023)).toBe('1023 B')
  expect(formatBytes(262_144)).toBe('256 KiB')
  expect(plural(1, 'key')).toBe('1 key')
  expect(plural(2, 'key')).toBe('2 keys')
  expect(formatUtc('2026-11-15T06:30:14.120Z')).toBe('2026-11-15 06:30:14.120 UTC')
})
