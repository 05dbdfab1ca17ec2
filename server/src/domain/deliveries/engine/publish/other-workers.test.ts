import { expect, test, vi } from 'vitest'
import { newUuid } from '../../../../lib/ids.ts'
import { OtherWorkers } from './other-workers.ts'
import type { AddressedNotice } from './worker-notices.ts'

const deliveriesOf = (endpoints: number, each: number) =>
  Array.from({ length: endpoints }, () => newUuid()).flatMap((webhookId) =>
    Array.from({ length: each }, () => ({ webhookId, eventId: newUuid(), lease: newUuid() })),
  )

/** Two workers that listen, unless they are among `gone`. */
function setUp({ gone = [] as string[] } = {}) {
  const sent: AddressedNotice[][] = []
  const others = new OtherWorkers(async (notices) => {
    sent.push([...notices])
    return notices.filter(({ to }) => gone.includes(to.id))
  })
  for (const id of ['a', 'b']) others.onAnnouncement({ id, listenerPid: 1, full: [] })
  const taken = () => sent.flat().flatMap(({ notice }) => notice.take ?? [])
  return { others, sent, taken }
}

const refuseNone = () => expect.unreachable('a delivery was refused')

test('deliveries of many endpoints go to one worker in as few notices as fit', async () => {
  const { others, sent, taken } = setUp()
  const items = deliveriesOf(50, 2)
  // On a busy machine, the turn of the worker would end first.
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  others.handOver(items.slice(0, 50), refuseNone)
  others.handOver(items.slice(50), refuseNone)
  others.wake('send')
  clock.mockRestore()
  await expect.poll(() => taken().length).toBe(100)
  expect(sent).toHaveLength(1)
  expect(sent[0]?.map(({ notice }) => notice.take?.length)).toEqual([60, 40])
  expect(new Set(sent[0]?.map(({ to }) => to.id)).size).toBe(1)
  expect(sent[0]?.flatMap(({ notice }) => notice.wake)).toEqual(['send'])
  expect(new Set(taken().map(({ eventId }) => eventId)).size).toBe(100)
})

test('deliveries for a worker that is gone go to the other one', async () => {
  for (const gone of ['a', 'b']) {
    const { others, sent } = setUp({ gone: [gone] })
    const items = deliveriesOf(3, 1)
    others.handOver(items, refuseNone)
    const kept = () => sent.flat().filter(({ to }) => to.id !== gone)
    await expect.poll(() => kept().flatMap(({ notice }) => notice.take).length).toBe(3)
    expect(new Set(kept().flatMap(({ notice }) => notice.take?.map(({ eventId }) => eventId)))).toEqual(
      new Set(items.map(({ eventId }) => eventId)),
    )
  }
})

test('each worker has its turn', async () => {
  const { others, sent } = setUp()
  await expect
    .poll(() => {
      others.handOver(deliveriesOf(1, 1), refuseNone)
      return new Set(sent.flat().map(({ to }) => to.id)).size
    })
    .toBe(2)
})
