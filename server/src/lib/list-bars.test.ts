import { expect, test } from 'vitest'
import { barTimes, toListBars } from './list-bars.ts'

const now = new Date('2026-11-18T17:40:00Z')
const range = (from: string | null, to: string | null = null, zone?: string) => ({
  from: from === null ? null : new Date(from),
  to: to === null ? null : new Date(to),
  zone,
})
const isoOf = (times: readonly Date[]) => times.map((time) => time.toISOString().slice(5, 16))

test('without a time filter, the bars are the last seven days in steps of three hours', () => {
  const { times, stepMs } = barTimes(range(null), now)
  expect([times.length - 1, stepMs]).toEqual([57, 3 * 3_600_000])
  expect([isoOf(times)[0], isoOf(times).at(-1)]).toEqual(['11-11T15:00', '11-18T18:00'])
})

test.each([
  ['2026-11-18T16:40:00Z', 60, 61],
  ['2026-11-18T14:40:00Z', 300, 37],
  ['2026-11-17T17:40:00Z', 3600, 25],
  ['2026-11-11T17:40:00Z', 10_800, 57],
  ['2026-10-19T17:40:00Z', 43_200, 61],
  ['2026-10-10T00:00:00Z', 86_400, 40],
  ['2026-01-01T00:00:00Z', 5 * 86_400, 65],
])('a range since %s has bars of %d s', (from, seconds, bars) => {
  const { times, stepMs } = barTimes(range(from), now)
  expect([stepMs / 1000, times.length - 1]).toEqual([seconds, bars])
})

test('the last bar contains the end of the range and the first its start', () => {
  const { times } = barTimes(range('2026-11-18T10:00:00Z', '2026-11-18T11:00:00Z'), now)
  expect([times.length - 1, isoOf(times)[0], isoOf(times).at(-1)]).toEqual([60, '11-18T10:00', '11-18T11:00'])
  const odd = barTimes(range('2026-11-18T10:00:30Z', '2026-11-18T10:59:30Z'), now)
  expect([isoOf(odd.times)[0], isoOf(odd.times).at(-1)]).toEqual(['11-18T10:00', '11-18T11:00'])
})

test('an end in the future is the current time, and an empty range has one bar', () => {
  expect(isoOf(barTimes(range('2026-11-18T17:00:00Z', '2027-01-01T00:00:00Z'), now).times).at(-1)).toBe('11-18T17:41')
  expect(barTimes(range('2026-11-18T12:00:00Z', '2026-11-18T11:00:00Z'), now).times).toHaveLength(2)
})

test('a least step is kept for short ranges', () => {
  const { times } = barTimes(range('2026-11-18T10:20:00Z', '2026-11-18T11:30:00Z'), now, 3_600_000)
  expect(isoOf(times)).toEqual(['11-18T10:00', '11-18T11:00', '11-18T12:00'])
})

test('days begin at midnight in the zone, also across a change of daylight saving time', () => {
  const berlin = barTimes(range('2026-10-01T00:00:00Z', '2026-11-18T00:00:00Z', 'Europe/Berlin'), now)
  expect(berlin.stepMs).toBe(86_400_000)
  expect(isoOf(berlin.times).slice(22, 26)).toEqual(['10-22T22:00', '10-23T22:00', '10-24T22:00', '10-25T23:00'])
})

test('parts of days begin at full hours in a zone with half hours', () => {
  const { times } = barTimes(range(null, null, 'Asia/Kolkata'), now)
  expect(isoOf(times)[0]).toBe('11-11T16:00')
})

test('a zone that is not known counts as UTC', () => {
  expect(barTimes(range(null, null, 'Mars/Olympus_Mons'), now)).toEqual(barTimes(range(null, null, 'UTC'), now))
})

test('counts are added by bar and result, and rows outside are left out', () => {
  const bars = barTimes(range('2026-11-18T10:00:00Z', '2026-11-18T13:00:00Z'), now, 3_600_000)
  const rows = [
    { bar: 0, result: 'ok', count: 9 },
    { bar: 1, result: 'ok', count: 2 },
    { bar: 1, result: 'ok', count: 3 },
    { bar: 3, result: 'bad', count: 1 },
    { bar: 4, result: 'bad', count: 9 },
  ]
  expect(toListBars(bars, rows).counts).toEqual({ ok: [5, 0, 0], bad: [0, 0, 1] })
})
