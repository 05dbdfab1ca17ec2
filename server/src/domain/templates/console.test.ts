import { roles } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newUuid } from '../../lib/ids.ts'
import { syncConnection } from '../connections/sync.ts'

const server = useTestServer()
const sending = useSending(server)

async function newShopWithMember() {
  const shop = await sending.newShop()
  const person = await signedIn(server, { workspaceId: shop.workspace.id, role: 'member' })
  const at = `/w/${shop.workspace.id}/templates`
  const names = async (query = '') =>
    (await person.call(at + query)).body.data.map(({ name }: { name: string }) => name) as string[]
  return { ...shop, person, at, names }
}

test('every role can read templates with their status and rejection reason', async () => {
  const { account, connection, at, workspace } = await newShopWithMember()
  const { id } = account.addTemplate({ name: 'rude' })
  sending.network.control.templates.setStatus(id, { status: 'REJECTED', reason: 'ABUSIVE_CONTENT' })
  await sending.network.control.idle()
  await syncConnection(sending.network.network, connection.id)
  for (const role of roles) {
    const person = await signedIn(server, { workspaceId: workspace.id, role })
    const { body } = await person.call(`${at}?status=REJECTED`)
    expect(body.data).toMatchObject([
      { name: 'rude', status: 'REJECTED', rejected_reason: 'ABUSIVE_CONTENT', account: account.wabaId },
    ])
    expect((await person.call(`${at}/${body.data[0].id}`)).body).toEqual(body.data[0])
  }
})

test('filters apply, and the search matches part of a name', async () => {
  const { account, connection, names } = await newShopWithMember()
  account.addTemplate({ name: 'greeting', language: 'es' })
  account.addTemplate({ name: 'order_update', category: 'MARKETING' })
  await syncConnection(sending.network.network, connection.id)
  expect(await names('?q=GREET')).toEqual(['greeting', 'greeting'])
  expect(await names('?language=es')).toEqual(['greeting'])
  expect(await names('?category=MARKETING')).toHaveLength(1)
  expect(await names('?q=100%25')).toEqual([])
})

test('pages neither repeat nor skip templates while new ones are added', async () => {
  const { account, connection, person, at } = await newShopWithMember()
  const add = async (...some: string[]) => {
    for (const name of some) {
      account.addTemplate({ name })
      server.clock.forward({ seconds: 1 })
      await syncConnection(sending.network.network, connection.id)
    }
  }
  await add('a', 'b', 'c')
  const first = (await person.call(`${at}?limit=2`)).body
  await add('d')
  const second = (await person.call(`${at}?limit=2&cursor=${first.next_cursor}`)).body
  expect([...first.data, ...second.data].map(({ name }) => name)).toEqual(['c', 'b', 'a', 'greeting'])
  expect(second.has_more).toBe(false)
})

test('a template of another workspace gets the same 404 as an unknown one', async () => {
  const { person, at } = await newShopWithMember()
  const other = await newShopWithMember()
  const theirs = (await other.person.call(other.at)).body.data[0].id
  for (const id of [theirs, `tpl_${newUuid()}`, 'tpl_x']) {
    expect(await person.call(`${at}/${id}`)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  }
  expect((await person.call(other.at)).status).toBe(404)
})

test('the messages of a template are counted by what became of them, for 30 days', async () => {
  const { account, connection, person, at, workspace, senderId } = await newShopWithMember()
  account.addTemplate({ name: 'unused' })
  await syncConnection(sending.network.network, connection.id)
  const [unused, greeting] = (await person.call(at)).body.data.map(({ id }: { id: string }) => id) as [string, string]
  const now = server.clock.now().getTime()
  const messages = [
    ...['sent', 'delivered', 'read', 'read', 'failed', 'queued'].map((status) => ({ status, daysAgo: 1 })),
    { status: 'read', daysAgo: 29 },
    { status: 'read', daysAgo: 31 },
  ]
  await server.db.change(
    `insert into messages (id, workspace_id, sender_id, recipient, created_at, key_id, type, template_id, credits, content,
       status, failed_at)
     select m.id, $1, $2, '16505550123', m.at, k.id, 'template', $3, 0, '{}', m.status,
       case when m.status = 'failed' then m.at end
     from unnest($4::uuid[], $5::timestamptz[], $6::text[]) as m(id, at, status), api_keys k where k.workspace_id = $1`,
    [
      workspace.id,
      senderId.slice(4),
      greeting.slice(4),
      messages.map(() => newUuid()),
      messages.map(({ daysAgo }) => new Date(now - daysAgo * 86_400_000)),
      messages.map(({ status }) => status),
    ],
  )
  const counts = async (who: typeof person, path: string) =>
    (await who.call(`${path}/counts?ids=${greeting},${unused}`)).body.data
  expect(await counts(person, at)).toEqual([
    { id: greeting, sent: 7, delivered: 4, read: 3, failed: 1, is_exact: true },
    { id: unused, sent: 0, delivered: 0, read: 0, failed: 0, is_exact: true },
  ])
  const other = await newShopWithMember()
  expect(await counts(other.person, other.at)).toMatchObject([{ sent: 0 }, { sent: 0 }])
  expect((await person.call(`${at}/counts?ids=x`)).status).toBe(400)
})

test('at most the newest 10,000 messages of a template are counted', async () => {
  const { person, at, workspace, senderId } = await newShopWithMember()
  const id = (await person.call(at)).body.data[0].id as string
  await server.db.change(
    `insert into messages (id, workspace_id, sender_id, recipient, created_at, key_id, type, template_id, credits, content, status)
     select gen_random_uuid(), $1, $2, '16505550123', $4::timestamptz - make_interval(secs => n), k.id, 'template', $3, 0, '{}',
       case when n <= 5000 then 'read' else 'sent' end
     from generate_series(1, 10001) as n, api_keys k where k.workspace_id = $1`,
    [workspace.id, senderId.slice(4), id.slice(4), server.clock.now()],
  )
  expect((await person.call(`${at}/counts?ids=${id}`)).body.data).toEqual([
    { id, sent: 10_000, delivered: 5000, read: 5000, failed: 0, is_exact: false },
  ])
})
