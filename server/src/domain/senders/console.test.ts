import { roles } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'

const server = useTestServer()
const sending = useSending(server)

test('senders are shown with their account and when they were last used, to every role', async () => {
  const { workspace, senderId, account, sendText } = await sending.newShop()
  for (const role of roles) {
    const person = await signedIn(server, { workspaceId: workspace.id, role })
    const { body } = await person.call(`/w/${workspace.id}/senders`)
    expect(body.data).toMatchObject([{ id: senderId, status: 'CONNECTED', connection: { account: account.wabaId } }])
  }
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const look = async () => (await person.call(`/w/${workspace.id}/senders`)).body.data[0]
  expect(await look()).toMatchObject({ last_sent_at: null, last_received_at: null })
  const { created_at } = await sendText('16505550123')
  await sending.network.control.phones.say('16505550123', { to: account.phoneNumber, text: 'hi' })
  await sending.network.control.idle()
  expect(await look()).toMatchObject({ last_sent_at: created_at, last_received_at: expect.any(String) })
})

test('who asks the network anew sees what changed there; it is on record', async () => {
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

test('a synchronisation that fails says why, and what was there stays', async () => {
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
