import { expect, test } from 'vitest'
import {
  exactTimeFormat,
  formatAgo,
  formatBytes,
  formatDuration,
  formatMs,
  formatPercent,
  formatTime,
  formatTimesIn,
  formatUtc,
  localDay,
  plural,
} from './format.ts'

test.each([
  [0.4, '400 µs'],
  [12.4, '12 ms'],
  [1420, '1.42 s'],
  [12_340, '12.3 s'],
  [200_000, '3 min 20 s'],
  [7_500_000, '2 h 5 min'],
  [86_400_000, '1 d'],
])('formatDuration(%d) is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})

test.each([
  [0, '0.0 ms'],
  [0.04, '<0.1 ms'],
  [0.84, '0.8 ms'],
  [3.24, '3.2 ms'],
  [12.4, '12 ms'],
  [1420, '1,420 ms'],
  [200_000, '200,000 ms'],
])('formatMs(%d) is %s', (ms, text) => {
  expect(formatMs(ms)).toBe(text)
})

test('localDay is the day in the local time zone', () => {
  expect(localDay(new Date(2026, 0, 5, 23, 59))).toBe('2026-01-05')
})

test('formatPercent never rounds a ratio below 1 up to 100%', () => {
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
])('a time %d seconds in the past is shown as %s', (seconds, text) => {
  const now = Date.parse('2026-11-15T06:30:00.000Z')
  expect(formatAgo(new Date(now - seconds * 1000), now)).toBe(text)
})

/** Some versions of ICU put a narrow no-break space before AM and PM. */
const plainSpaces = (text: string) => text.replaceAll(/\s/g, ' ')

test.each([
  ['Europe/Berlin', 'Nov 16, 2026, 3:41:07 PM GMT+1'],
  ['America/New_York', 'Nov 16, 2026, 9:41:07 AM EST'],
  ['UTC', 'Nov 16, 2026, 2:41:07 PM UTC'],
])('an exact time in %s is shown as %s', (timeZone, text) => {
  const at = new Date('2026-11-16T14:41:07.120Z')
  expect(plainSpaces(exactTimeFormat('en-US', timeZone).format(at))).toBe(text)
})

test('formatTime uses the local zone and names it, formatUtc uses UTC', () => {
  const at = '2026-11-16T14:41:07.120Z'
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  expect(plainSpaces(formatTime(at))).toBe(plainSpaces(exactTimeFormat('en-US', timeZone).format(new Date(at))))
  expect(formatUtc(at)).toBe('2026-11-16 14:41:07.120 UTC')
})

test('formatTimesIn shows the times of an API text in local time and changes nothing else', () => {
  const since = formatTime('2026-11-16T03:12:00Z')
  expect(formatTimesIn('20 attempts failed since 2026-11-16 03:12 UTC.')).toBe(`20 attempts failed since ${since}.`)
  const at = '2026-11-16T14:41:07.120Z'
  expect(formatTimesIn(`failing since ${at}; 3 attempts`)).toBe(`failing since ${formatTime(at)}; 3 attempts`)
})

test('formatBytes and plural', () => {
  expect(formatBytes(1023)).toBe('1023 B')
  expect(formatBytes(262_144)).toBe('256 KiB')
  expect(plural(1, 'key')).toBe('1 key')
  expect(plural(2, 'key')).toBe('2 keys')
})
