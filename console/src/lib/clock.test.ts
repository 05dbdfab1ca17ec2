import { afterEach, expect, test, vi } from 'vitest'
import { serviceNow, setClock } from './clock.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('times are by the clock of the service, even if the clock of the browser is hours off', () => {
  vi.useFakeTimers({ now: new Date('2026-11-20T12:00:00Z') })
  setClock('2026-11-17T09:00:00.000Z')
  expect(new Date(serviceNow()).toISOString()).toBe('2026-11-17T09:00:00.000Z')
  vi.setSystemTime(new Date('2026-11-20T12:00:30Z'))
  expect(new Date(serviceNow()).toISOString()).toBe('2026-11-17T09:00:30.000Z')
  // A response that took a moment to arrive, and one without a time, change nothing.
  setClock('2026-11-17T09:00:29.000Z')
  setClock(null)
  setClock('soon')
  expect(new Date(serviceNow()).toISOString()).toBe('2026-11-17T09:00:30.000Z')
  setClock(new Date().toISOString())
  expect(serviceNow()).toBe(Date.now())
})
