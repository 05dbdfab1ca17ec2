import type { Template } from '@parley/contract/template'
import { expect, test } from 'vitest'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'

const server = useTestServer()
const sending = useSending(server)

const to = '16505550123'
const greeting = { type: 'template', template: { name: 'greeting', language: 'en', variables: { 'body.1': 'Ana' } } }

const statusOf = async ({ workspace }: TestShop) =>
  ((await workspace.call('/v1/templates?name=greeting')).body as { data: Template[] }).data[0]?.status

/** Changes the template at the network, which does not tell us. */
function changeSilently({ account }: TestShop, status: string) {
  const template = sending.network.control.templates.list().find(({ wabaId }) => wabaId === account.wabaId)
  if (template) template.status = status
}

async function sendAndSync(shop: TestShop, recipient = to) {
  const { status } = await shop.send({ to: recipient, ...greeting })
  await sending.drain()
  server.clock.forward({ seconds: 10 })
  await sending.network.drain()
  return status
}

test.each([
  ['132015', 'PAUSED', 'PAUSED'],
  ['132016', 'DISABLED', 'DISABLED'],
  ['132001', null, undefined],
])('after error %s the templates are synced, and the next send is refused', async (_code, status, expected) => {
  const shop = await sending.newShop()
  server.clock.forward({ minutes: 5 })
  if (status === null) await shop.account.removeTemplate('greeting')
  else changeSilently(shop, status)
  // The webhook that the simulator sends when a template is deleted would bring a sync too.
  await sending.network.control.idle()
  await server.db.change(`update templates set status = 'APPROVED' where workspace_id = $1`, [shop.workspace.id])
  await server.db.change(`update connections set sync_due_at = 'infinity' where id = $1`, [shop.connection.id])
  expect(await sendAndSync(shop)).toBe(202)
  expect(await statusOf(shop)).toBe(expected)
  expect(await shop.send({ to, ...greeting })).toMatchObject({ status: 400 })
})

test('a template that the network drops later is synced too', async () => {
  const shop = await sending.newShop()
  server.clock.forward({ minutes: 5 })
  const callsBefore = shop.account.calls('message_templates')
  // Accepted, held for a quality check, then failed with 132015.
  expect(await sendAndSync(shop, '15559000013')).toBe(202)
  expect(shop.account.calls('message_templates')).toBe(callsBefore + 1)
})

test('many messages with a paused template bring at most one sync a minute', async () => {
  const shop = await sending.newShop()
  server.clock.forward({ minutes: 5 })
  const callsBefore = shop.account.calls('message_templates')
  for (let n = 0; n < 12; n++) expect(await sendAndSync(shop, '15551132015')).toBe(202)
  expect(shop.account.calls('message_templates') - callsBefore).toBe(2)
})

test('an error of a message triggers no sync', async () => {
  const shop = await sending.newShop()
  server.clock.forward({ minutes: 5 })
  const callsBefore = shop.account.calls('message_templates')
  expect(await sendAndSync(shop, '15551132000')).toBe(202)
  expect(shop.account.calls('message_templates')).toBe(callsBefore)
})
