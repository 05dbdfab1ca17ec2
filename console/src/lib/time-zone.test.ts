import { afterEach, expect, test } from 'vitest'
import { formatDay, formatTime, formatTimesIn, localDay } from './format.ts'
import { browserZone, fromTimeField, setTimeZone, timeZone, toTimeField } from './time-zone.ts'

afterEach(() => setTimeZone(null))

test.each([
  ['Asia/Kolkata', '2026-11-16T20:30', '2026-11-16T15:00:00.000Z'],
  ['America/New_York', '2026-11-16T10:00', '2026-11-16T15:00:00.000Z'],
  // The offset changed on 2026-03-08 at 02:00.
  ['America/New_York', '2026-03-08T01:30', '2026-03-08T06:30:00.000Z'],
  ['America/New_York', '2026-03-08T03:30', '2026-03-08T07:30:00.000Z'],
  ['Pacific/Auckland', '2026-11-17T04:00', '2026-11-16T15:00:00.000Z'],
  ['UTC', '2026-11-16T15:00', '2026-11-16T15:00:00.000Z'],
])('in %s, the field %s is %s', (zone, field, iso) => {
  setTimeZone(zone)
  expect(fromTimeField(field)?.toISOString()).toBe(iso)
  expect(toTimeField(new Date(iso))).toBe(field)
})

test('an empty or invalid field is no time', () => {
  for (const text of ['', '2026-11', '2026-99-16T10:00', 'tomorrow']) expect(fromTimeField(text), text).toBeNull()
})

test('times and days are formatted in the zone, even after it changed', () => {
  setTimeZone('Asia/Kolkata')
  expect(formatTime('2026-11-16T20:00:07.000Z')).toMatch(/17.*1:30:07 AM GMT\+5:30|1:30:07/)
  expect(localDay(new Date('2026-11-16T20:00:00.000Z'))).toBe('2026-11-17')
  setTimeZone('America/New_York')
  expect(formatTime('2026-11-16T20:00:07.000Z')).toMatch(/3:00:07 PM (EST|GMT-5)/)
  expect(formatDay('2026-11-17T02:00:00.000Z')).toBe('Nov 16, 2026')
  expect(formatTimesIn('since 2026-11-16 20:00 UTC')).toMatch(/3:00:00 PM/)
})

test('without a zone, or with a zone that the browser does not know, the browser’s zone is used', () => {
  setTimeZone('Mars/Olympus_Mons')
  expect(timeZone()).toBe(browserZone())
})
