import { expect, test } from 'vitest'
import { signedIn } from '../../../../testing/console.ts'
import { newLine, useDeliveryWorker } from '../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../testing/receiver.ts'
import { useReplays } from '../../../../testing/replays.ts'
import { useTestServer } from '../../../../testing/test-server.ts'

const server = useTestServer()
const deliveries = useDeliveryWorker(server, { deadlineMs: 30_000 })
const replays = useReplays(server, deliveries)
const newReceiver = useReceivers()

const post = (body: unknown = {}) => ({ method: 'POST', body })

async function setUp(events = 3) {
  const line = await newLine(server)
  const since = server.clock.now().toISOString()
  await line.write(events)
  server.clock.forward({ seconds: 1 })
  const { id } = await line.listen(await newReceiver(), ['message.received'])
  const { id: workspaceId } = line.workspace
  const as = async (role: 'admin' | 'developer' | 'member') => {
    const person = await signedIn(server, { workspaceId, role })
    return (path: string, options?: object) => person.call(`/w/${workspaceId}${path}`, options)
  }
  return { id, since, workspaceId, as }
}

test('an admin previews, starts, follows and cancels a replay', async () => {
  const { id, since, as, workspaceId } = await setUp()
  const admin = await as('admin')
  expect((await admin(`/webhooks/${id}/replay_preview?since=${since}&only=missing`)).body).toEqual({
    count: 3,
    more: false,
  })
  expect((await admin(`/webhooks/${id}/replay_preview?since=${since}`)).body).toEqual({ count: 0, more: false })
  const started = await admin(`/webhooks/${id}/replays`, post({ since, only: 'missing', rate: 100 }))
  expect(started).toMatchObject({
    status: 201,
    body: {
      id: expect.stringMatching(/^rpl_/),
      webhook_id: id,
      state: 'running',
      total: 3,
      delivered: 0,
      failed: 0,
      rate: 100,
      since,
      events: null,
      senders: null,
      only: 'missing',
      counting: false,
      hold: null,
      ended_at: null,
    },
  })
  await replays.run(started.body.id)
  expect((await admin(`/replays/${started.body.id}`)).body).toMatchObject({ state: 'completed', delivered: 3 })
  expect(await (await fetch(`${server.url}/metrics`)).text()).toMatch(/^parley_replays_running 0$/m)
  const second = (await admin(`/webhooks/${id}/replays`, post({ since, only: 'all' }))).body
  expect(second).toMatchObject({ rate: 50, total: 3 })
  expect((await admin(`/webhooks/${id}/replays`)).body.data.map((each: { id: string }) => each.id)).toEqual([
    second.id,
    started.body.id,
  ])
  expect(await admin(`/replays/${second.id}/cancel`, post())).toMatchObject({
    status: 200,
    body: { state: 'cancelled' },
  })
  expect(await admin(`/replays/${second.id}/cancel`, post())).toMatchObject({ status: 409 })
  const entries = await server.db.rows(
    `select action, target, target_name from audit_entries where workspace_id = $1 and action like '%replay' order by at, id`,
    [workspaceId],
  )
  expect(entries).toEqual(
    ['webhook.replay', 'webhook.replay', 'webhook.cancel_replay'].map((action) => ({
      action,
      target: id,
      target_name: 'receiver',
    })),
  )
})

test('developers see replays and cannot start or cancel them; members see nothing; other workspaces get 404', async () => {
  const { id, since, as } = await setUp()
  const [admin, developer, member] = [await as('admin'), await as('developer'), await as('member')]
  const { body: replay } = await admin(`/webhooks/${id}/replays`, post({ since, only: 'all' }))
  expect((await developer(`/webhooks/${id}/replays`)).body.data).toHaveLength(1)
  expect((await developer(`/webhooks/${id}/replay_preview?since=${since}&only=all`)).body.count).toBe(3)
  for (const call of [
    developer(`/webhooks/${id}/replays`, post({ since })),
    developer(`/replays/${replay.id}/cancel`, post()),
    member(`/webhooks/${id}/replays`),
    member(`/replays/${replay.id}`),
  ]) {
    expect((await call).status).toBe(403)
  }
  const other = await (await setUp()).as('admin')
  for (const call of [
    other(`/webhooks/${id}/replays`),
    other(`/webhooks/${id}/replay_preview?since=${since}`),
    other(`/webhooks/${id}/replays`, post({ since })),
    other(`/replays/${replay.id}`),
    other(`/replays/${replay.id}/cancel`, post()),
  ]) {
    expect((await call).status).toBe(404)
  }
  await admin(`/replays/${replay.id}/cancel`, post())
})

test('invalid input is rejected, each error with its field', async () => {
  const { id, since, as } = await setUp(0)
  const admin = await as('admin')
  const cases: [object, string][] = [
    [{}, 'since'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: '2099-01-01T00:00:00Z' }, 'since'],
    [{ since, until: '2020-01-01T00:00:00Z' }, 'since'],
    [{ since, events: ['message.sent'] }, 'events'],
    [{ since, senders: ['whk_1'] }, 'senders.0'],
    [{ since, only: 'some' }, 'only'],
    [{ since, rate: 0 }, 'rate'],
    [{ since, rate: 1_001 }, 'rate'],
  ]
  for (const [body, param] of cases) {
    const response = await admin(`/webhooks/${id}/replays`, post(body))
    expect({ body, status: response.status, param: response.body.error.param }).toEqual({ body, status: 400, param })
  }
})
