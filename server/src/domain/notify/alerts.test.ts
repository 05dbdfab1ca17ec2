import type { Alert } from '@parley/contract/console/alerts'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { anyTarget } from '../../../testing/deliveries.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { giveCredits } from '../credits/credits.ts'
import { publish } from '../deliveries/engine/publish/publish.ts'
import { addNotification } from '../mail/notifications.ts'
import { createWebhook } from '../webhooks/webhooks.ts'
import { passOn } from './pass-on.ts'

// It sends no emails.
const server = useTestServer()

async function setUp(role: 'admin' | 'developer' | 'member' = 'admin') {
  const { id } = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: id, role })
  const read = async (): Promise<Alert[]> => {
    const { status, body } = await person.call(`/w/${id}/alerts`)
    expect([status, body.sends_mail]).toEqual([200, false])
    return body.data
  }
  const alert = async (kind: string) => (await read()).find((each) => each.kind === kind)
  return { id, person, read, alert }
}

const tell = () => passOn({ db: server.db, clock: server.clock, secretKeys: () => server.secretKeys, sendsMail: false })

test('every alert has its channels, and whether the person gets an email', async () => {
  const { read, alert, person } = await setUp()
  expect((await read()).map(({ kind, event, email }) => [kind, event, email])).toEqual([
    ['webhook_failing', null, true],
    ['webhook_disabled', 'webhook.disabled', true],
    ['credits_low', 'credits.low', true],
    ['key_expiring', null, true],
    ['token_expiring', null, true],
    ['template_status', 'template.status_changed', null],
    ['sender_status', 'sender.status_changed', null],
  ])
  const off = { method: 'PATCH', body: { kind: 'credits_low', wanted: false } }
  expect((await person.call('/account/notifications', off)).status).toBe(200)
  expect(await alert('credits_low')).toMatchObject({ email: false })
})

test('an alert lists the webhooks that are subscribed to its event', async () => {
  const { id, alert } = await setUp()
  const other = await setUp()
  const create = (workspaceId: string, name: string, events: string[]) =>
    createWebhook(server.db, server.clock, server.secretKeys, anyTarget, {
      workspaceId,
      name,
      url: 'https://example.com/hook',
      events,
    })
  const { webhook } = await create(id, 'Watch', ['credits.low', 'message.received'])
  await create(id, 'Shop', ['message.received'])
  await create(other.id, 'Strange', ['credits.low'])
  expect(await alert('credits_low')).toMatchObject({ webhooks: [{ id: webhook.id, name: 'Watch', state: 'enabled' }] })
  expect(await alert('webhook_disabled')).toMatchObject({ webhooks: [] })
})

test('when an alert last happened is known without a mail server, even if it has no event', async () => {
  const { id, alert, read } = await setUp()
  const other = await setUp()
  expect((await read()).map(({ last_at }) => last_at)).toEqual(Array(7).fill(null))
  const began = Date.now()
  const notice = (name: string) =>
    addNotification(server.db, {
      workspaceId: id,
      kind: 'webhook_failing',
      data: { webhook_id: 'whk_1', name, failures: 10, failing_since: null },
    })
  await notice('First')
  await notice('Second')
  await giveCredits(server.db, server.clock, id, 200, 'test')
  await giveCredits(server.db, server.clock, id, -150, 'test')
  expect(await tell()).toBe(3)
  const failing = await alert('webhook_failing')
  expect(failing).toMatchObject({ last_subject: 'Second' })
  expect(Math.abs(Date.parse(failing?.last_at ?? '') - began)).toBeLessThan(60_000)
  expect(await alert('credits_low')).toMatchObject({ last_subject: '50 left', last_at: expect.any(String) })
  await notice('Third')
  await tell()
  expect(await alert('webhook_failing')).toMatchObject({ last_subject: 'Third' })
  expect(await other.alert('webhook_failing')).toMatchObject({ last_at: null, last_subject: null })
})

test('an alert that is only an event happened when the last one was published', async () => {
  const { id, alert } = await setUp()
  const publishAt = (at: Date, workspaceId = id) =>
    server.db.transaction((tx) => publish(tx, at, [{ workspaceId, type: 'template.status_changed', data: {} }]))
  await publishAt(server.clock.now())
  server.clock.forward({ minutes: 5 })
  const at = server.clock.now()
  await publishAt(at)
  server.clock.forward({ minutes: 5 })
  await publishAt(server.clock.now(), (await setUp()).id)
  expect(await alert('template_status')).toMatchObject({ last_at: at.toISOString(), last_subject: null })
  expect(await alert('sender_status')).toMatchObject({ last_at: null })
})

test('members see the alerts of what their role may see, without webhooks; others nothing', async () => {
  const { read, id } = await setUp('member')
  expect((await read()).map(({ kind, email, webhooks }) => [kind, email, webhooks])).toEqual([
    ['template_status', null, null],
    ['sender_status', null, null],
  ])
  const developer = await setUp('developer')
  expect((await developer.alert('credits_low'))?.email).toBe(false)
  expect((await developer.person.call(`/w/${id}/alerts`)).status).toBe(404)
})

test('the last event of a type is found by the index of rare types', async () => {
  await server.db.rows('set enable_seqscan = off')
  const plan = await server.db.rows<{ 'QUERY PLAN': string }>(
    `explain select e.created_at from unnest(array['credits.low']) as t(type) cross join lateral (
       select e.created_at from events e where e.workspace_id = '0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d' and e.type = t.type
         and e.type not in ('message.sent', 'message.delivered', 'message.read', 'message.received')
       order by e.created_at desc, e.id desc limit 1) as e`,
  )
  const text = plan.map((row) => row['QUERY PLAN']).join('\n')
  expect(text).toMatch(/Index (Only )?Scan using events\w*_type/)
  expect(text).not.toMatch(/Seq Scan|-> +Sort /)
})
