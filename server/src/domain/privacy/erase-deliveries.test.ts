import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newLogger } from '../../lib/logger.ts'
import { eraseDue } from './erase.ts'

const server = useTestServer()
const delivering = useDeliveryWorker(server, { deadlineMs: 10_000, bodyDeadlineMs: 10_000 })
const newReceiver = useReceivers()
/** Of the messages that `newLine` writes. */
const phone = '16505550123'

test('open deliveries of an erased person end, and what receivers responded is removed', async () => {
  const line = await newLine(server)
  const [failing, disabled] = [await newReceiver(), await newReceiver()]
  // It repeats what it got, as some error pages do.
  failing.behave((response, { body }) => response.writeHead(500).end(body))
  const { id } = await line.listen(failing)
  const held = await line.listen(disabled)
  const admin = await signedIn(server, { workspaceId: line.workspace.id, role: 'admin' })
  const call = (path: string, options = {}) => admin.call(`/w/${line.workspace.id}/${path}`, options)
  await call(`webhooks/${held.id}/disable`, { method: 'POST', body: { reason: 'moving' } })
  await line.write(3)
  await delivering.worker.drain()
  const attempts = failing.received.length
  expect(attempts).toBeGreaterThan(2)
  const answers = () =>
    server.db.rows<{ answer: string }>(
      `select convert_from(answer, 'UTF8') as answer from delivery_attempts where workspace_id = $1`,
      [line.workspace.id],
    )
  const open = () => server.db.rows('select 1 from deliveries where workspace_id = $1', [line.workspace.id])
  expect(JSON.stringify(await answers())).toContain(phone)
  expect(await open()).toHaveLength(6)

  expect((await call('erasures', { method: 'POST', body: { phone } })).status).toBe(202)
  await eraseDue(server.db, server.clock, newLogger('silent'))
  expect((await call('erasures')).body.data).toMatchObject([{ removed: { events: 3, deliveries: 6 } }])
  expect(await open()).toEqual([])
  expect(new Set((await answers()).map(({ answer }) => answer))).toEqual(new Set(['']))

  failing.behave(200)
  await call(`webhooks/${held.id}/enable`, { method: 'POST', body: {} })
  server.clock.forward({ hours: 1 })
  await delivering.worker.drain()
  expect([failing.received.length, disabled.received.length]).toEqual([attempts, 0])
  // The pages of the deliveries still work.
  const listed = await call(`deliveries?webhook=${id}`)
  expect(listed.status).toBe(200)
  for (const { event_id: event } of listed.body.data) {
    expect([200, 404]).toContain((await call(`deliveries/${event}/${id}`)).status)
  }
  await line.write()
  await delivering.worker.drain()
  expect([failing.received.length, disabled.received.length]).toEqual([attempts + 1, 1])
})
