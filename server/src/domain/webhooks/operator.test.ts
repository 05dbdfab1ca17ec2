import { expect, test } from 'vitest'
import { newBrowser, signedIn } from '../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { disableWebhook } from './webhooks.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server)
const newReceiver = useReceivers()
const post = { method: 'POST' }

async function setUp() {
  const line = await newLine(server)
  const receiver = await newReceiver()
  const { id } = await line.listen(receiver)
  const operator = await signedIn(server, { operator: true })
  return { ...line, receiver, id, operator }
}

test('an operator tests a disabled webhook of any workspace, and sees the result without the response', async () => {
  const { receiver, id, operator, workspace } = await setUp()
  await disableWebhook(server.db, server.clock, id, 'moving')
  receiver.next((response) => void response.writeHead(500).end('private'))
  const sent = await operator.call(`/operator/webhooks/${id}/test`, post)
  expect(sent.status).toBe(202)
  const result = () => operator.call(`/operator/webhooks/${id}/tests/${sent.body.event_id}`)
  await deliveries.worker.drain()
  const { body } = await result()
  expect(body.attempt).toMatchObject({
    status: 500,
    trouble: { title: expect.any(String), remedy: expect.any(String) },
  })
  expect(JSON.stringify(body)).not.toContain('private')
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const { data } = (await admin.call(`/w/${workspace.id}/audit?action=webhook.test`)).body
  expect(data).toMatchObject([{ actor: operator.email, target: id }])
})

test('an operator enables a webhook, and its workspace sees who did', async () => {
  const { id, operator, workspace } = await setUp()
  await disableWebhook(server.db, server.clock, id, 'moving')
  expect((await operator.call(`/operator/webhooks/${id}/enable`, post)).status).toBe(204)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  expect((await admin.call(`/w/${workspace.id}/webhooks/${id}`)).body.enabled).toBe(true)
  const { data } = (await admin.call(`/w/${workspace.id}/audit?action=webhook.enable`)).body
  expect(data).toMatchObject([
    {
      actor: operator.email,
      target: id,
      before: { enabled: false, disabled_reason: 'moving' },
      after: { enabled: true },
    },
  ])
})

test('the result of an event that is not a test is not shown, and unknown webhooks are not found', async () => {
  const { id, operator, write, receiver } = await setUp()
  await write()
  await deliveries.worker.drain()
  const event = receiver.received[0]?.id
  expect((await operator.call(`/operator/webhooks/${id}/tests/${event}`)).status).toBe(404)
  const unknown = 'whk_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d'
  for (const action of ['test', 'enable']) {
    expect((await operator.call(`/operator/webhooks/${unknown}/${action}`, post)).status).toBe(404)
    expect((await operator.call(`/operator/webhooks/nonsense/${action}`, post)).status).toBe(404)
  }
})

test('only operators may test and enable the webhooks of others', async () => {
  const { id, workspace } = await setUp()
  const other = await newWorkspace(server)
  const admins = [workspace.id, other.id].map((workspaceId) => signedIn(server, { workspaceId, role: 'admin' }))
  for (const admin of await Promise.all(admins)) {
    for (const path of [`/operator/webhooks/${id}/test`, `/operator/webhooks/${id}/enable`]) {
      expect((await admin.call(path, post)).status).toBe(403)
      expect((await newBrowser(server.url).call(path, post)).status).toBe(401)
    }
  }
})
