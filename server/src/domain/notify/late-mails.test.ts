import { beforeEach, expect, test } from 'vitest'
import { type SignedInPerson, signedIn } from '../../../testing/console.ts'
import { newLine } from '../../../testing/deliveries.ts'
import { useMailingServer } from '../../../testing/mail.ts'
import { useReceivers } from '../../../testing/receiver.ts'
import { useSimulator } from '../../../testing/simulated-network.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { giveCredits } from '../credits/credits.ts'
import { rotateKey } from '../keys/rotate.ts'
import { addNotification } from '../mail/notifications.ts'
import { disableWebhook, enableWebhook } from '../webhooks/webhooks.ts'
import { noticeExpiries } from './expiries.ts'

/** Emails that wait for the mail server while what they say changes. */
const { server, mailServer, deliver, mailsTo } = await useMailingServer()
const network = useSimulator(server)
const newReceiver = useReceivers()

beforeEach(async () => {
  await server.db.change('delete from mails')
})

const subjectsOf = ({ email }: SignedInPerson) => mailsTo(email).map(({ subject }) => subject)
const waiting = () => server.db.rows('select kind from mails')

/** The mail server is unavailable while `change` happens, then it accepts what waits. */
async function deliverAfter(change: () => Promise<unknown>): Promise<void> {
  mailServer.behave(451)
  await deliver()
  expect(await waiting()).not.toEqual([])
  await change()
  mailServer.behave('accept')
  server.clock.forward({ minutes: 2 })
  await deliver()
  expect(await waiting()).toEqual([])
}

/** A workspace with an endpoint, and its admin. */
async function newEndpoint() {
  const line = await newLine(server)
  const admin = await signedIn(server, { workspaceId: line.workspace.id, role: 'admin' })
  const { id } = await line.listen(await newReceiver())
  const fail = (failures: number) =>
    server.db.change('update webhooks set failures = $2 where id = $1', [id.slice(4), failures])
  return { workspaceId: line.workspace.id, admin, id, fail }
}

test('an email about a failing endpoint is sent late while it fails, and not once it works again or is disabled', async () => {
  const [failing, working, disabled] = [await newEndpoint(), await newEndpoint(), await newEndpoint()]
  for (const { fail } of [failing, working, disabled]) await fail(10)
  await deliverAfter(async () => {
    await failing.fail(12)
    await working.fail(0)
    await disableWebhook(server.db, server.clock, disabled.id, 'Under repair.')
  })
  expect(subjectsOf(failing.admin)).toEqual(['Test: Webhook “receiver” is failing'])
  expect([subjectsOf(working.admin), subjectsOf(disabled.admin)]).toEqual([[], []])
})

test('an email about a disabled endpoint is not sent once it is enabled', async () => {
  const [disabled, enabled] = [await newEndpoint(), await newEndpoint()]
  for (const { workspaceId, id } of [disabled, enabled]) {
    await disableWebhook(server.db, server.clock, id, 'It failed.')
    const data = { webhook_id: id, name: 'receiver', reason: 'It failed.' }
    await addNotification(server.db, { workspaceId, kind: 'webhook_disabled', data })
  }
  await deliverAfter(() => enableWebhook(server.db, server.clock, enabled.id))
  expect(subjectsOf(disabled.admin)).toEqual(['Test: Webhook “receiver” was disabled'])
  expect(subjectsOf(enabled.admin)).toEqual([])
})

test('an email about low credits is not sent once there are more', async () => {
  const { id } = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: id, role: 'admin' })
  for (const amount of [150, -60]) await giveCredits(server.db, server.clock, id, amount, 'test')
  await deliverAfter(() => giveCredits(server.db, server.clock, id, 1000, 'test'))
  expect(subjectsOf(admin)).toEqual([])
})

test('an email about a key is not sent once the key was rotated or has another expiry', async () => {
  const workspace = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const inDays = (days: number) => new Date(server.clock.now().getTime() + days * 86_400_000)
  const newKey = async (name: string) => (await workspace.newKey({ name, expiresAt: inDays(30) })).key.id
  const [rotated, prolonged] = [await newKey('Rotated'), await newKey('Prolonged')]
  await newKey('Kept')
  await server.passDays(25)
  await noticeExpiries(server.db, server.clock.now())
  await deliverAfter(async () => {
    const rotation = { workspaceId: workspace.id, id: rotated, graceHours: 24, createdBy: 'test' } as const
    await server.db.transaction((tx) => rotateKey(tx, server.clock, rotation))
    await server.db.change('update api_keys set expires_at = $2 where id = $1', [prolonged, inDays(90)])
  })
  expect(subjectsOf(admin)).toEqual([expect.stringContaining('API key “Kept” expires')])
  expect(mailsTo(admin.email)[0]?.text).toMatch(/\/keys\?open=[0-9a-f-]{36}/)
})

test('an email about an access token is not sent once the token was replaced', async () => {
  const workspace = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: workspace.id, role: 'admin' })
  const accounts = await Promise.all([1, 2].map(() => network.newAccount().connect(workspace)))
  const [replaced, kept] = accounts.map(({ id }) => id)
  const expiresAt = new Date(server.clock.now().getTime() + 5 * 86_400_000)
  await server.db.change('update connections set token_expires_at = $2 where id = any($1::uuid[])', [
    [replaced, kept],
    expiresAt,
  ])
  await noticeExpiries(server.db, server.clock.now())
  await deliverAfter(() => server.db.change('update connections set token_expires_at = null where id = $1', [replaced]))
  expect(subjectsOf(admin)).toEqual([expect.stringContaining('WhatsApp access token expires')])
  expect(mailsTo(admin.email)[0]?.text).toContain(`./parley connection change ${kept}`)
})

test('a person who left the workspace, or no longer wants a notification, does not get waiting emails', async () => {
  const { id } = await newWorkspace(server)
  const [admin, left, declined] = [
    await signedIn(server, { workspaceId: id, role: 'admin' }),
    await signedIn(server, { workspaceId: id, role: 'admin' }),
    await signedIn(server, { workspaceId: id, role: 'admin' }),
  ]
  for (const amount of [150, -60]) await giveCredits(server.db, server.clock, id, amount, 'test')
  const { body } = await left.call('/session')
  await deliverAfter(async () => {
    expect((await admin.call(`/w/${id}/team/members/${body.person.id}`, { method: 'DELETE' })).status).toBe(204)
    await declined.call('/account/notifications', { method: 'PATCH', body: { kind: 'credits_low', wanted: false } })
  })
  expect([subjectsOf(admin).length, subjectsOf(left), subjectsOf(declined)]).toEqual([1, [], []])
})

test('an invitation that was withdrawn while it waited is not sent', async () => {
  const { id } = await newWorkspace(server)
  const admin = await signedIn(server, { workspaceId: id, role: 'admin' })
  const invite = (email: string) =>
    admin.call(`/w/${id}/team/invites`, { method: 'POST', body: { email, role: 'member' } })
  await invite('withdrawn@example.com')
  await invite('invited@example.com')
  await deliverAfter(async () => {
    const { invites } = (await admin.call(`/w/${id}/team`)).body
    const withdrawn = invites.find((each: { email: string }) => each.email === 'withdrawn@example.com')
    expect((await admin.call(`/w/${id}/team/invites/${withdrawn.id}`, { method: 'DELETE' })).status).toBe(204)
  })
  expect([mailsTo('withdrawn@example.com').length, mailsTo('invited@example.com').length]).toEqual([0, 1])
})
