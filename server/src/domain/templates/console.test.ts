import { roles } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newUuid } from '../../lib/ids.ts'
import { syncConnection } from '../connections/sync.ts'

const server = useTestServer()
const sending = useSending(server)

async function newDesk() {
  const shop = await sending.newShop()
  const person = await signedIn(server, { workspaceId: shop.workspace.id, role: 'member' })
  const at = `/w/${shop.workspace.id}/templates`
  const names = async (query = '') =>
    (await person.call(at + query)).body.data.map(({ name }: { name: string }) => name) as string[]
  return { ...shop, person, at, names }
}

test('templates are shown to every role with what the network thinks of them', async () => {
  const { account, connection, at, workspace } = await newDesk()
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

test('filters narrow, and a part of a name is enough', async () => {
  const { account, connection, names } = await newDesk()
  account.addTemplate({ name: 'greeting', language: 'es' })
  account.addTemplate({ name: 'order_update', category: 'MARKETING' })
  await syncConnection(sending.network.network, connection.id)
  expect(await names('?q=GREET')).toEqual(['greeting', 'greeting'])
  expect(await names('?language=es')).toEqual(['greeting'])
  expect(await names('?category=MARKETING')).toHaveLength(1)
  expect(await names('?q=100%25')).toEqual([])
})

test('pages neither repeat nor skip when templates are added meanwhile', async () => {
  const { account, connection, person, at } = await newDesk()
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

test('a template of another workspace is as unknown as one that never was', async () => {
  const { person, at } = await newDesk()
  const other = await newDesk()
  const theirs = (await other.person.call(other.at)).body.data[0].id
  for (const id of [theirs, `tpl_${newUuid()}`, 'tpl_x']) {
    expect(await person.call(`${at}/${id}`)).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  }
  expect((await person.call(other.at)).status).toBe(404)
})
