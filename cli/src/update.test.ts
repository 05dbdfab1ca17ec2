import { expect, test } from 'vitest'
import { newApp, newSender, text, webhookOf } from '../../server/testing/network-app.ts'
import { urlOf } from '../../server/testing/service.ts'
import { useTestServer } from '../../server/testing/test-server.ts'
import { newWorkspace } from '../../server/testing/workspace.ts'
import { startCommand } from '../testing/run-parley.ts'

const server = useTestServer()

const run = (words: string) =>
  startCommand(words.split(' '), {
    DATABASE_URL: urlOf(server.connection),
    PARLEY_SECRET_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
  }).ended

test('updates are listed, shown as they arrived, and read again', async () => {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, '69000000001')
  const metadata = { phone_number_id: sender.phoneNumberId }
  const post = (field: string, value: object) =>
    app.post({ object: 'whatsapp_business_account', entry: [{ id: sender.wabaId, changes: [{ field, value }] }] })
  await post('calls', { metadata, calls: [{ id: 'wacid.1' }] })
  await post('messages', { metadata, messages: [{ ...text('wamid.1'), foo: 1 }] })

  const all = JSON.parse((await run('update list --json')).out)
  expect(all.data.map(({ field }: { field: string }) => field)).toEqual(['messages', 'calls'])
  const calls = JSON.parse((await run(`update list --field calls --workspace ${workspace.id} --json`)).out).data
  const update = {
    id: expect.stringMatching(/^upd_/),
    object: 'network_update',
    field: 'calls',
    sender_id: `snd_${sender.id}`,
    received_at: expect.any(String),
    outcome: 'unknown_field',
    value: { metadata, calls: [{ id: 'wacid.1' }] },
  }
  expect(calls).toEqual([update])
  expect(JSON.parse((await run(`update show ${calls[0].id} --json`)).out)).toEqual(update)
  expect((await run(`update show ${calls[0].id}`)).out).toContain('"id": "wacid.1"')
  expect((await run('update list --outcome partly_understood')).out).toContain('messages.0.foo')
  expect(await run('update list --outcome odd')).toMatchObject({ code: 1, out: '' })
  expect(await run('update show upd_0199b2f4-6c1e-7a53-9d0e-5f1f6a2b3c4d')).toMatchObject({ code: 1, out: '' })
  expect(JSON.parse((await run('update reread --field calls --json')).out)).toEqual({
    read: 1,
    understood: 0,
    failed: [],
  })
  expect((await run('update reread')).out).toContain('Read 2 updates again. 0 are understood completely now.')
})

test('update reread says which updates failed and why, and exits with 1', async () => {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  await app.post(webhookOf('69000000404', [text('wamid.BAD')]))
  await newSender(server, workspace.id, app.id, '69000000404')
  await server.db.rows(
    `create function refuse_bad() returns trigger language plpgsql as $$ begin raise 'bad message'; end $$`,
  )
  await server.db.rows(
    'create trigger refuse_bad before insert on inbound_messages for each row execute function refuse_bad()',
  )
  const { code, out } = await run('update reread --field messages')
  expect([code, out]).toEqual([
    1,
    expect.stringMatching(/^1 update failed and stays as it is:\n {2}upd_\S+: error: bad message$/m),
  ])
  await server.db.rows('drop trigger refuse_bad on inbound_messages')
  expect(await run('update reread --field messages')).toMatchObject({ code: 0 })
})
