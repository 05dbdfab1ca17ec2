import { roles } from '@parley/contract/console/permissions'
import type { SenderActivity, SenderChange } from '@parley/contract/console/senders'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newUuid } from '../../lib/ids.ts'

const server = useTestServer()
const sending = useSending(server)

test('every role can read senders with their account and last activity', async () => {
  const { workspace, senderId, account, sendText } = await sending.newShop()
  for (const role of roles) {
    const person = await signedIn(server, { workspaceId: workspace.id, role })
    const { body } = await person.call(`/w/${workspace.id}/senders`)
    expect(body.data).toMatchObject([{ id: senderId, status: 'CONNECTED', connection: { account: account.wabaId } }])
  }
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const readSender = async () => (await person.call(`/w/${workspace.id}/senders`)).body.data[0]
  expect(await readSender()).toMatchObject({ last_sent_at: null, last_received_at: null })
  const { created_at } = await sendText('16505550123')
  await sending.network.control.phones.say('16505550123', { to: account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  expect(await readSender()).toMatchObject({ last_sent_at: created_at, last_received_at: expect.any(String) })
})

test('a sync from the console applies changes and is recorded in the audit log', async () => {
  const { workspace, account } = await sending.newShop()
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'developer' })
  const names = async () =>
    (await person.call(`/w/${workspace.id}/templates`)).body.data.map(({ name }: { name: string }) => name).sort()
  expect(await names()).toEqual(['greeting'])
  account.addTemplate({ name: 'news' })
  const { status, body } = await person.call(`/w/${workspace.id}/sync`, { method: 'POST' })
  expect(status).toBe(200)
  expect(body.accounts).toEqual([
    { account: account.wabaId, outcome: 'synced', senders: 1, templates: 2, remark: null },
  ])
  expect(await names()).toEqual(['greeting', 'news'])
  const entries = await server.db.rows('select action, after from audit_entries where actor = $1 and action like $2', [
    person.email,
    'network.%',
  ])
  expect(entries).toEqual([{ action: 'network.sync', after: { [account.wabaId]: 'synced' } }])
  const member = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  expect((await member.call(`/w/${workspace.id}/sync`, { method: 'POST' })).status).toBe(403)
})

test('a failed sync returns the error and keeps senders and templates', async () => {
  const { workspace, connection } = await sending.newShop()
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  await server.db.change(`update apps set graph_url = 'http://127.0.0.1:9' where id = $1`, [connection.appId])
  const { body } = await person.call(`/w/${workspace.id}/sync`, { method: 'POST' })
  expect(body.accounts).toMatchObject([{ outcome: 'failed', remark: expect.any(String) }])
  expect((await person.call(`/w/${workspace.id}/senders`)).body.data).toMatchObject([
    { connection: { sync_error: expect.any(String) } },
  ])
  expect((await person.call(`/w/${workspace.id}/templates`)).body.data).toHaveLength(1)
})

/** The sums of the series of an activity. */
const sumsOf = ({ queued, sent, failed, received }: SenderActivity) =>
  [queued, sent, failed, received].map((counts) => counts.reduce((sum, count) => sum + count, 0))

test('the page of a sender has its changes of status and quality, newest first, for every role', async () => {
  const { workspace, senderId, account } = await sending.newShop()
  const notify = async (field: string, value: object) => {
    server.clock.forward({ seconds: 1 })
    sending.network.control.wabas.notify(account.wabaId, { field, value: value as Record<string, unknown> })
    await sending.network.control.idle()
  }
  const number = { display_phone_number: account.phoneNumber }
  await notify('phone_number_quality_update', { ...number, event: 'FLAGGED' })
  await notify('account_update', { event: 'DISABLED_UPDATE', ban_info: { waba_ban_state: 'DISABLE' } })
  for (const role of roles) {
    const person = await signedIn(server, { workspaceId: workspace.id, role })
    const { status, body } = await person.call(`/w/${workspace.id}/senders/${senderId}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ id: senderId, status: 'BANNED', quality_rating: 'RED' })
    expect(body.changes.map(({ at: _, reason: __, ...change }: SenderChange) => change)).toEqual([
      { status: 'BANNED', previous_status: 'CONNECTED', quality_rating: 'RED', previous_quality_rating: 'RED' },
      { status: 'CONNECTED', previous_status: 'CONNECTED', quality_rating: 'RED', previous_quality_rating: null },
    ])
    expect(body.changes[1].reason).toBe('WhatsApp flagged the number for low quality.')
  }
})

test('the activity of a sender counts its messages by result, and what it used of its limits', async () => {
  const { workspace, senderId, account, send, sendText } = await sending.newShop()
  const { data: templates } = (await workspace.call('/v1/templates')).body as { data: { id: string }[] }
  const greet = (to: string) =>
    send({ to, type: 'template', template: { id: templates[0]?.id, variables: { 'body.1': 'Ana' } } })
  const before = server.clock.now()
  for (const to of ['16505550123', '16505550123', '16505550124']) expect((await greet(to)).status).toBe(202)
  await sendText('16505550125')
  // A test number of the network that is not on WhatsApp.
  await sendText('15550131026')
  await sending.drain()
  await sending.network.control.phones.say('16505550123', { to: account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  await sendText('16505550126')
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const read = async (period: string): Promise<SenderActivity> =>
    (await person.call(`/w/${workspace.id}/senders/${senderId}/activity?period=${period}`)).body
  for (const [period, steps] of [
    ['24h', 24],
    ['7d', 28],
    ['30d', 30],
  ] as const) {
    const activity = await read(period)
    expect(activity.steps).toHaveLength(steps)
    expect(activity.sent).toHaveLength(steps)
    expect(sumsOf(activity)).toEqual([1, 4, 1, 1])
    expect(activity.has_more).toBe(false)
  }
  // Two people got a template. All messages were sent within the same second of the fake clock, or the next.
  const { last_day } = await read('24h')
  expect(last_day).toMatchObject({ people: 2, has_more: false })
  const perSecond = await server.db.first<{ peak: number }>(
    `select max(count) as peak from (select count(*) from messages where workspace_id = $1 and sent_at >= $2
     group by date_trunc('second', sent_at)) as seconds`,
    [workspace.id, new Date(before.getTime() - 60_000)],
  )
  expect(last_day.peak_per_second).toBe(perSecond?.peak)
  expect(last_day.peak_per_second).toBeGreaterThan(0)

  server.clock.forward({ hours: 25 })
  const later = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const { body } = await later.call(`/w/${workspace.id}/senders/${senderId}/activity?period=7d`)
  expect(sumsOf(body)).toEqual([1, 4, 1, 1])
  expect(body.last_day).toMatchObject({ people: 0, peak_per_second: 0 })
})

test('the activity of a sender has no messages of another sender, nor those that the business wrote elsewhere', async () => {
  const { workspace, senderId, sendText } = await sending.newShop()
  await sendText('16505550123')
  await sendText('15550131026')
  await sending.drain()
  const uuid = senderId.slice('snd_'.length)
  const other = newUuid()
  await server.db.change(
    `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status, quality_rating,
       created_at, updated_at)
     select $1::uuid, workspace_id, connection_id, app_id, $1::uuid::text, '15559990000', 'CONNECTED', 'GREEN', created_at, updated_at
     from senders where id = $2`,
    [other, uuid],
  )
  await server.db.change(
    `insert into inbound_messages (id, workspace_id, sender_id, wa_message_id, sent_by, type, received_at, recorded_at,
       content, source)
     select gen_random_uuid(), $1, $2, gen_random_uuid()::text, '16505550123', 'text', $3, $3, '{}', source
     from unnest(array[null, null, 'business_app']) as source`,
    [workspace.id, other, server.clock.now()],
  )
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'developer' })
  const sums = async (id: string) =>
    sumsOf((await person.call(`/w/${workspace.id}/senders/${id}/activity`)).body as SenderActivity)
  expect(await sums(senderId)).toEqual([0, 1, 1, 0])
  expect(await sums(`snd_${other}`)).toEqual([0, 0, 0, 2])
})

test('a sender of another workspace is not found', async () => {
  const [shop, other] = [await sending.newShop(), await sending.newShop()]
  const person = await signedIn(server, { workspaceId: shop.workspace.id, role: 'admin' })
  for (const id of [other.senderId, 'snd_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d', 'nonsense']) {
    for (const rest of ['', '/activity']) {
      const { status, body } = await person.call(`/w/${shop.workspace.id}/senders/${id}${rest}`)
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
  }
  const elsewhere = await person.call(`/w/${other.workspace.id}/senders/${other.senderId}`)
  expect(elsewhere.status).not.toBe(200)
  const known = await person.call(`/w/${shop.workspace.id}/senders/${shop.senderId}/activity?period=1y`)
  expect(known.status).toBe(400)
})
