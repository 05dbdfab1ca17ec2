import { roles } from '@parley/contract/console/permissions'
import { expect, test } from 'vitest'
import { signedIn } from '../../../testing/console.ts'
import { newApp, newSender } from '../../../testing/network-app.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'

const server = useTestServer()

interface Cart {
  name?: string
  note?: string
  from?: string
}

async function newShopWithMember() {
  const workspace = await newWorkspace(server)
  const person = await signedIn(server, { workspaceId: workspace.id, role: 'member' })
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const at = `/w/${workspace.id}/orders`
  /** Receives a cart; returns the order's id. */
  const order = async ({ name = 'Ana', note = 'No onions', from = '16505550123' }: Cart = {}): Promise<string> => {
    server.clock.forward({ seconds: 1 })
    const cart = {
      catalog_id: '1',
      text: note,
      product_items: [
        { product_retailer_id: 'SKU-1', quantity: 2, item_price: 9.99, currency: 'EUR' },
        { product_retailer_id: 'SKU-2', quantity: 1, item_price: 1, currency: 'EUR' },
      ],
    }
    const value = {
      messaging_product: 'whatsapp',
      metadata: { phone_number_id: sender.phoneNumberId },
      contacts: [{ profile: { name }, wa_id: from }],
      messages: [{ from, id: `wamid.${newUuid()}`, timestamp: '1786000000', type: 'order', order: cart }],
    }
    await app.post({
      object: 'whatsapp_business_account',
      entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
    })
    const [newest] = (await person.call(`${at}?limit=1`)).body.data
    return newest.id
  }
  return { workspace, person, at, order }
}

test('every role can read orders and change their status, and each change records who made it', async () => {
  const { workspace, at, order } = await newShopWithMember()
  for (const role of roles) {
    const id = await order()
    const person = await signedIn(server, { workspaceId: workspace.id, role })
    const read = (await person.call(`${at}/${id}`)).body
    expect(read).toMatchObject({ id, status: 'new', total: '20.98', currency: 'EUR', note: 'No onions', changes: [] })
    const change = (status: string) => person.call(`${at}/${id}`, { method: 'PATCH', body: { status } })
    expect((await change('confirmed')).body.changes).toMatchObject([{ from: 'new', to: 'confirmed', by: person.email }])
    expect((await change('shipped')).body).toMatchObject({ status: 'shipped' })
    expect((await change('eaten')).status).toBe(400)
    const entries = await server.db.rows(
      'select action, before, after from audit_entries where target = $1 order by at, id',
      [id],
    )
    expect(entries).toEqual([
      { action: 'order.status', before: { status: 'new' }, after: { status: 'confirmed' } },
      { action: 'order.status', before: { status: 'confirmed' }, after: { status: 'shipped' } },
    ])
  }
})

test('pages neither repeat nor skip orders while new ones arrive, and filters apply', async () => {
  const { person, at, order } = await newShopWithMember()
  const ids = [await order(), await order({ from: '16505550199' }), await order()]
  await person.call(`${at}/${ids[1]}`, { method: 'PATCH', body: { status: 'done' } })
  const first = (await person.call(`${at}?limit=2`)).body
  await order()
  const second = (await person.call(`${at}?limit=2&cursor=${first.next_cursor}`)).body
  expect([...first.data, ...second.data].map(({ id }) => id)).toEqual(ids.toReversed())
  expect((await person.call(`${at}?status=done`)).body.data).toMatchObject([{ id: ids[1] }])
  expect((await person.call(`${at}?phone=%2B16505550199`)).body.data).toMatchObject([{ id: ids[1] }])
  expect((await person.call(`${at}?status=eaten`)).status).toBe(400)
})

test('an order of another workspace gets the same 404 as an unknown one', async () => {
  const { person, at } = await newShopWithMember()
  const other = await newShopWithMember()
  const theirs = await other.order()
  for (const id of [theirs, `ord_${newUuid()}`, 'ord_x']) {
    expect((await person.call(`${at}/${id}`)).status, id).toBe(404)
    expect((await person.call(`${at}/${id}`, { method: 'PATCH', body: { status: 'done' } })).status, id).toBe(404)
  }
  expect((await person.call(other.at)).status).toBe(404)
  expect((await person.call(`${other.at}.csv`)).status).toBe(404)
  expect((await other.person.call(`${other.at}/${theirs}`)).body.status).toBe('new')
})

test('the CSV export has a line per item, and text from customers never becomes a formula', async () => {
  const { person, at, order } = await newShopWithMember()
  const id = await order({ name: '=HYPERLINK("http://evil.example")', note: '@SUM(1)\r\n-2' })
  const { status, headers, body } = await person.call(`${at}.csv`)
  expect(status).toBe(200)
  expect(headers.get('content-disposition')).toBe('attachment; filename="orders.csv"')
  const text = String(body)
  expect(text).toContain(`"'=HYPERLINK(""http://evil.example"")"`)
  expect(text).toContain(`"'@SUM(1)\r\n-2"`)
  expect(text.split(id)).toHaveLength(3)
  expect(text).toContain('20.98,EUR,SKU-1,2,9.99,EUR')
  expect((await person.call(`${at}.csv?status=done`)).body).not.toContain(id)
  server.clock.forward({ minutes: 11 })
  expect((await person.call(`${at}.csv`)).body.error.code).toBe('confirmation_required')
})
