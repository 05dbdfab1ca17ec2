import { afterEach, beforeEach, expect, test } from 'vitest'
import { ranges } from './date-ranges.ts'
import { setTimeZone } from './time-zone.ts'

beforeEach(() => setTimeZone('Europe/Berlin'))
afterEach(() => setTimeZone(null))

const range = (title: string, now: string) => {
  const { from, to } = ranges.find((each) => each.title === title)?.of(new Date(now)) ?? {}
  return [from?.toISOString(), to?.toISOString()]
}

test('days and months begin at midnight of the reader’s time zone', () => {
  expect(range('Today', '2026-11-16T23:30:00Z')).toEqual(['2026-11-16T23:00:00.000Z', undefined])
  expect(range('Yesterday', '2026-11-16T22:30:00Z')).toEqual(['2026-11-14T23:00:00.000Z', '2026-11-15T23:00:00.000Z'])
  expect(range('Last month', '2026-01-16T12:00:00Z')).toEqual(['2025-11-30T23:00:00.000Z', '2025-12-31T23:00:00.000Z'])
})

test('the day on which clocks change has 23 hours', () => {
  expect(range('Yesterday', '2026-03-30T10:00:00Z')).toEqual(['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'])
})
