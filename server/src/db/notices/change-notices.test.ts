import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { until } from '../../../testing/until.ts'
import { type ChangeNotice, ChangeNotifier, readChangeNotices } from './change-notices.ts'

const sortedTopics = (notices: ChangeNotice[]) => notices.map(({ topic }) => topic).toSorted()

test('notices are sent together and without duplicates', async () => {
  const sent: ChangeNotice[][] = []
  const notifier = new ChangeNotifier(async (payload) => void sent.push(readChangeNotices(payload)))
  for (const topic of ['messages', 'deliveries', 'messages'] as const) notifier.notify('one', topic)
  await notifier.close()
  expect(sent.map(sortedTopics)).toEqual([['deliveries', 'messages']])
})

test('notices that could not be sent are sent again, with later ones', async () => {
  const sent: ChangeNotice[][] = []
  let attempts = 0
  const notifier = new ChangeNotifier(
    async (payload) => {
      if (++attempts <= 2) throw new Error('the connection was lost')
      sent.push(readChangeNotices(payload))
    },
    { everyMs: 1, retryMs: 20 },
  )
  notifier.notify('one', 'messages')
  await until('the first attempt has failed', async () => attempts > 0)
  notifier.notify('one', 'deliveries')
  await until('they are sent', async () => sent.length > 0)
  expect(sent.map(sortedTopics)).toEqual([['deliveries', 'messages']])
  await sleep(50)
  expect(sent).toHaveLength(1)
  await notifier.close()
})
