import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { localRules, useDeliveryWorker } from '../../../testing/deliveries.ts'
import { newApp, newSender, webhookOf } from '../../../testing/network-app.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { until } from '../../../testing/until.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { createWebhook } from '../webhooks/webhooks.ts'

const server = useTestServer()
const newReceiver = useReceivers()
useDeliveryWorker(server)

test('numbers that JavaScript would change are stored and delivered as the network sent them', async () => {
  const workspace = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const receiver = await newReceiver()
  const { db, clock, secretKeys } = server
  const endpoint = { workspaceId: workspace.id, name: 'receiver', url: receiver.url, events: ['flow.completed'] }
  await createWebhook(db, clock, secretKeys, localRules, endpoint)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, '77100000001')

  const answers =
    '{"policy":12345678901234567890,"deep":{"list":[-9007199254740993,1.0,1e400]},"price":0.12345678901234567890,"n":41,"text":"9"}'
  const nfm = { name: 'flow', body: 'Sent', response_json: answers.replace('{', '{"flow_token":90071992547409931,') }
  const interactive = { type: 'nfm_reply', nfm_reply: nfm }
  const message = { from: '16505550123', id: 'wamid.BIG', timestamp: '1786000000', type: 'interactive', interactive }
  expect(await app.post(webhookOf(sender.phoneNumberId, [message]))).toBe(200)

  const [delivery] = await until('the event arrives', () => receiver.received.length > 0 && receiver.received)
  expect(delivery?.body).toContain(`"response":${answers},`)
  expect(delivery?.body).toContain('"flow_token":"90071992547409931"')
  const { id } = (JSON.parse(delivery?.body ?? '') as { data: { id: string } }).data

  const headers = { authorization: `Bearer ${workspace.secret}` }
  for (const path of ['/v1/flow_responses', `/v1/flow_responses/${id}`]) {
    const text = await (await fetch(server.url + path, { headers })).text()
    expect(text, path).toContain(`"response":${answers},`)
  }

  // A browser would round them, so the console gets them as text.
  const shown = {
    policy: '12345678901234567890',
    deep: { list: ['-9007199254740993', '1.0', '1e400'] },
    price: '0.12345678901234567890',
    n: 41,
    text: '9',
  }
  expect((await person.call(`/w/${workspace.id}/forms/${id}`)).body.response).toEqual(shown)
  expect((await person.call(`/w/${workspace.id}/forms`)).body.data[0].response).toEqual(shown)
})
