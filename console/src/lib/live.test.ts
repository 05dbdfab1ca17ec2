import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, onTestFinished, test } from 'vitest'
import { refetch } from './live.ts'

const until = (check: () => boolean) => expect.poll(check, { timeout: 20_000 }).toBe(true)

/** A page that shows `path`. Its requests wait until the test responds to them. */
function newPage(path: string) {
  const client = new QueryClient()
  const requests: { respond(): void; signal: AbortSignal }[] = []
  const queryFn = ({ signal }: { signal: AbortSignal }) =>
    new Promise<number>((resolve) => requests.push({ respond: () => resolve(requests.length), signal }))
  onTestFinished(new QueryObserver(client, { queryKey: [path], queryFn }).subscribe(() => {}))
  return { client, requests, data: () => client.getQueryData<number>([path]) }
}

test('changes during a request do not cancel it, and cause one more', async () => {
  const { client, requests, data } = newPage('/busy')
  requests[0]?.respond()
  await until(() => data() === 1)
  const finished = refetch(client, '/busy')
  for (let change = 0; change < 5; change++) void refetch(client, '/busy')
  await until(() => requests.length === 2)
  for (let change = 0; change < 5; change++) void refetch(client, '/busy')
  requests[1]?.respond()
  await until(() => requests.length === 3)
  expect(data()).toBe(2)
  requests[2]?.respond()
  await finished
  expect([data(), requests.length]).toEqual([3, 3])
  expect(requests.some(({ signal }) => signal.aborted)).toBe(false)
})

test('a change during the first request is fetched afterwards', async () => {
  const { client, requests, data } = newPage('/new')
  const finished = refetch(client, '/new')
  await until(() => client.getQueryState(['/new'])?.isInvalidated === true)
  requests[0]?.respond()
  await until(() => requests.length === 2)
  requests[1]?.respond()
  await finished
  expect([data(), requests.length]).toEqual([2, 2])
})
