import { expect, test } from 'vitest'
import { newLine, useDeliveryWorker } from '../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { listAttempts } from './attempts.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()

test('attempts are listed newest first, and pages neither skip nor repeat attempts', async () => {
  const receiver = await newReceiver()
  const line = await newLine(server)
  const { id } = await line.listen(receiver)
  for (let round = 0; round < 3; round++) {
    await line.write(5)
    await deliveries.worker.drain()
    server.clock.forward({ seconds: 1 })
  }
  const listed = []
  for (let page = await listAttempts(server.db, id, { limit: 4 }); page.length > 0; ) {
    listed.push(...page)
    page = await listAttempts(server.db, id, { limit: 4, before: page.at(-1) ?? null })
  }
  expect(new Set(listed.map((each) => each.eventId)).size).toBe(15)
  expect(listed).toHaveLength(15)
  expect(listed.map((each) => each.at.getTime())).toEqual(listed.map((each) => each.at.getTime()).sort((a, b) => b - a))
  expect(listed[0]).toMatchObject({
    trigger: 'first',
    state: 'delivered',
    status: 200,
    answer: Buffer.from('response 200'),
  })
})

test('a page is read by one index scan', async () => {
  await server.db.rows('set enable_seqscan = off')
  const plan = await server.db.rows<{ 'QUERY PLAN': string }>(
    `explain select * from delivery_attempts
     where webhook_id = '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d' and at <= now() order by at desc, event_id, number limit 50`,
  )
  const text = plan.map((row) => row['QUERY PLAN']).join('\n')
  expect(text).toMatch(/Index Scan using delivery_attempts/)
  expect(text).not.toMatch(/Seq Scan|-> +Sort /)
})
