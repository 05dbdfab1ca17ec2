import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { toRefusal } from '../../http/errors.ts'
import type { Borrow } from './pool.ts'
import { shareByWorkspace } from './workspace-share.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const borrow: Borrow = (work) => work({} as never)

/** Starts a statement that runs until `end` is called. */
function start(share: Borrow) {
  const running = Promise.withResolvers<void>()
  let hasBegun = false
  const result = share(() => {
    hasBegun = true
    return running.promise
  })
  result.catch(() => {})
  return { result, end: running.resolve, hasBegun: () => hasBegun }
}

test('a workspace uses half of the connections, and its other statements wait for 10 seconds at most', async () => {
  const shares = shareByWorkspace(borrow, 4)
  const first = start(shares('one'))
  const second = start(shares('one'))
  const late = start(shares('one'))
  expect([first, second, late].map((each) => each.hasBegun())).toEqual([true, true, false])
  const other = start(shares('two'))
  expect(other.hasBegun()).toBe(true)

  await vi.advanceTimersByTimeAsync(9_000)
  const waiting = start(shares('one'))
  await vi.advanceTimersByTimeAsync(1_500)
  const error = await late.result.catch((reason: unknown) => reason)
  expect(toRefusal(error).code).toBe('service_unavailable')

  // The place passes to the request that still waits.
  first.end()
  await first.result
  await vi.advanceTimersByTimeAsync(0)
  expect(waiting.hasBegun()).toBe(true)
  second.end()
  waiting.end()
  await Promise.all([second.result, waiting.result])
  expect(late.hasBegun()).toBe(false)
  const again = [start(shares('one')), start(shares('one')), start(shares('one'))]
  expect(again.map((each) => each.hasBegun())).toEqual([true, true, false])
})
