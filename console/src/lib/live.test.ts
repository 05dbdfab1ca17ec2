import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, onTestFinished, test, vi } from 'vitest'
import { refetch } from './live.ts'

/** A page that shows `path`. Its requests wait until the test responds to them. Timers go by a clock that the test moves. */
function newPage(path: string) {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const client = new QueryClient()
  const requests: { respond(): void; signal: AbortSignal }[] = []
  const queryFn = ({ signal }: { signal: AbortSignal }) =>
    new Promise<number>((resolve) => requests.push({ respond: () => resolve(requests.length), signal }))
  onTestFinished(new QueryObserver(client, { queryKey: [path], queryFn }).subscribe(() => {}))
  return {
    requests,
    change: () => void refetch(client, path),
    /** How many requests there are after some time. */
    async countAfter(ms: number) {
      await vi.advanceTimersByTimeAsync(ms)
      return requests.length
    },
    data: () => client.getQueryData<number>([path]),
  }
}

const wholeGapMs = 1100

test('changes during a request do not cancel it, and cause one more', async () => {
  const { requests, change, countAfter, data } = newPage('/busy')
  requests[0]?.respond()
  for (let count = 0; count < 5; count++) change()
  expect(await countAfter(wholeGapMs)).toBe(2)
  expect(data()).toBe(1)
  for (let count = 0; count < 5; count++) change()
  requests[1]?.respond()
  expect(await countAfter(wholeGapMs)).toBe(3)
  expect(data()).toBe(2)
  requests[2]?.respond()
  expect(await countAfter(wholeGapMs)).toBe(3)
  expect(data()).toBe(3)
  expect(requests.some(({ signal }) => signal.aborted)).toBe(false)
})

test('a change during the first request is fetched afterwards', async () => {
  const { requests, change, countAfter, data } = newPage('/new')
  change()
  expect(await countAfter(wholeGapMs)).toBe(1)
  requests[0]?.respond()
  expect(await countAfter(wholeGapMs)).toBe(2)
  requests[1]?.respond()
  expect(await countAfter(wholeGapMs)).toBe(2)
  expect(data()).toBe(2)
})

test('the first change is fetched immediately, later ones at most once a second', async () => {
  const { requests, change, countAfter } = newPage('/paced')
  requests[0]?.respond()
  change()
  expect(await countAfter(100)).toBe(2)
  requests[1]?.respond()
  for (let count = 0; count < 5; count++) change()
  expect(await countAfter(900)).toBe(2)
  expect(await countAfter(200)).toBe(3)
  requests[2]?.respond()
  expect(await countAfter(5 * wholeGapMs)).toBe(3)
})
