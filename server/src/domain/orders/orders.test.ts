import { expect, test } from 'vitest'
import { fixtures } from '../../../testing/fixtures.ts'
import { eventsOf, newApp, newSender } from '../../../testing/network-app.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newWorkspace } from '../../../testing/workspace.ts'
import { newUuid } from '../../lib/ids.ts'
import { positionOf } from '../../lib/key-set.ts'
import { orders as orderList } from './console.ts'
import { changeOrderStatus, getOrder, toOrder } from './orders.ts'
import { sumOf } from './save-orders.ts'

const server = useTestServer()
const firstPage = { take: 100, after: null, order: 'desc' } as const

async function newShop() {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(Math.trunc(Math.random() * 1e15)))
  const db = server.db.within(workspace.id)
  const sends = (order: object, more: object = {}) => {
    const message = {
      from: '16505550123',
      id: `wamid.${newUuid()}`,
      timestamp: '1786000000',
      type: 'order',
      order,
      ...more,
    }
    const contacts = [{ profile: { name: 'Ana' }, wa_id: '16505550123' }]
    const value = { metadata: { phone_number_id: sender.phoneNumberId }, contacts, messages: [message] }
    const entry = [{ id: '1', changes: [{ field: 'messages', value }] }]
    return app.post({ object: 'whatsapp_business_account', entry })
  }
  const orders = async (filters = {}) => (await orderList.rows(db, workspace.id, filters, firstPage)).map(toOrder)
  return { workspace, app, sender, db, sends, orders }
}

const item = (id: string, quantity: unknown, price: unknown, currency: unknown = 'EUR') => ({
  product_retailer_id: id,
  quantity,
  item_price: price,
  currency,
})

test('a cart is published as message.received without text and becomes an order', async () => {
  const { workspace, sender, sends, orders } = await newShop()
  await sends({ catalog_id: '1948', text: 'No onions', product_items: [item('A', 3, 9.99), item('B', 1, 0.1)] })
  const [event, ...more] = await eventsOf(server, workspace.id)
  expect([event?.type, event?.data.type, event?.data.text, more]).toEqual(['message.received', 'order', null, []])
  expect(await orders()).toEqual([
    {
      id: expect.stringMatching(/^ord_/),
      object: 'order',
      message_id: event?.data.message_id,
      sender_id: `snd_${sender.id}`,
      from: '16505550123',
      from_user_id: null,
      profile_name: 'Ana',
      catalog_id: '1948',
      note: 'No onions',
      items: [
        { product_id: 'A', quantity: 3, unit_price: '9.99', currency: 'EUR' },
        { product_id: 'B', quantity: 1, unit_price: '0.1', currency: 'EUR' },
      ],
      total: '30.07',
      currency: 'EUR',
      status: 'new',
      received_at: '2026-08-06T07:06:40.000Z',
      created_at: server.clock.now().toISOString(),
      updated_at: server.clock.now().toISOString(),
    },
  ])
})

test('a cart that the network repeats becomes one order', async () => {
  const { sends, orders } = await newShop()
  const cart = { product_items: [item('A', 1, 1)] }
  await Promise.all(Array.from({ length: 10 }, () => sends(cart, { id: 'wamid.SAME' })))
  expect(await orders()).toHaveLength(1)
})

test('each cart payload of the fixtures becomes one order', async () => {
  const payloads = fixtures((value) => value.object === 'whatsapp_business_account').filter(([, body]) =>
    JSON.stringify(body).includes('"product_items"'),
  )
  expect(payloads.length).toBeGreaterThanOrEqual(2)
  const totals: Record<string, unknown> = {}
  for (const [path, body] of payloads) {
    const { app, sender, orders } = await newShop()
    const text = JSON.stringify(body).replace(/("phone_number_id":)"[^"]*"/, `$1"${sender.phoneNumberId}"`)
    expect(await app.post(text), path).toBe(200)
    const [order, ...more] = await orders()
    expect([order !== undefined, more.length], path).toEqual([true, 0])
    totals[path] = [order?.items.length, order?.total, order?.currency]
  }
  expect(totals).toMatchObject({
    'david-lev__pywa/message--order.json': [3, '180', 'ILS'],
    'netflie__whatsapp-cloud-api/an-order-notification.json': [2, null, null],
  })
})

test.each([
  [[], null],
  [[['1.10', 2, 'EUR']], { total: '2.20', currency: 'EUR' }],
  [
    [
      ['0.1', 1, 'EUR'],
      ['0.2', 1, 'EUR'],
    ],
    { total: '0.3', currency: 'EUR' },
  ],
  [
    [
      ['1', 1, 'EUR'],
      ['1', 1, 'USD'],
    ],
    null,
  ],
  [[[null, 1, 'EUR']], null],
  [[['1', null, 'EUR']], null],
  [[['1', 1, null]], null],
] as [[string | null, number | null, string | null][], unknown][])('the total of %j is %j', (items, sum) => {
  const all = items.map(([unit_price, quantity, currency]) => ({ product_id: 'A', unit_price, quantity, currency }))
  expect(sumOf(all)).toEqual(sum)
})

test('invalid prices and quantities are null', async () => {
  const { sends, orders } = await newShop()
  const odd: [unknown, unknown][] = [
    ['2', '9.90'],
    [1.5, -1],
    [-1, 1e300],
    ['x', '1e5'],
    [null, { a: 1 }],
    [2 ** 40, 1e-11],
  ]
  await sends({ product_items: odd.map(([quantity, price]) => item('A', quantity, price)) })
  const [order] = await orders()
  expect(order?.items.map(({ quantity, unit_price }) => [quantity, unit_price])).toEqual([
    [2, '9.90'],
    [null, null],
    [null, null],
    [null, null],
    [null, null],
    [null, null],
  ])
  expect(order?.total).toBeNull()
})

test('an order can change from any status to any other, and each change records who and when', async () => {
  const { workspace, db, sends, orders } = await newShop()
  await sends({ product_items: [item('A', 1, 1)] })
  const id = (await orders())[0]?.id ?? ''
  const steps = ['confirmed', 'shipped', 'cancelled', 'new', 'done'] as const
  for (const [n, status] of steps.entries()) {
    server.clock.forward({ minutes: 1 })
    const changed = await changeOrderStatus(db, server.clock, workspace.id, id, status, `person ${n}`)
    expect([changed.status, changed.changes.at(-1)]).toMatchObject([
      status,
      { from: steps[n - 1] ?? 'new', to: status, by: `person ${n}`, at: server.clock.now().toISOString() },
    ])
  }
  const again = await changeOrderStatus(db, server.clock, workspace.id, id, 'done', 'another person')
  expect(again.changes).toHaveLength(5)
  expect(await getOrder(db, workspace.id, id)).toEqual(again)
  await expect(server.db.change('delete from order_changes')).rejects.toThrow('never changed or deleted')
  await Promise.all(
    (['new', 'shipped', 'new', 'shipped'] as const).map((to, n) =>
      changeOrderStatus(db, server.clock, workspace.id, id, to, `${n}`),
    ),
  )
  const { changes } = await getOrder(db, workspace.id, id)
  for (const [n, change] of changes.entries()) expect(change.from).toBe(changes[n - 1]?.to ?? 'new')
})

test('orders are listed by status and person, in pages, and only for their workspace', async () => {
  const { workspace, db, sends, orders } = await newShop()
  const other = await newShop()
  await other.sends({ product_items: [item('THEIRS', 1, 1)] })
  for (let n = 0; n < 4; n++) {
    server.clock.forward({ seconds: 1 })
    await sends({ product_items: [item(`P${n}`, 1, 1)] }, { from: `1650555000${n % 2}` })
  }
  const names = (list: Awaited<ReturnType<typeof orders>>) => list.map(({ items }) => items[0]?.product_id)
  expect(names(await orders())).toEqual(['P3', 'P2', 'P1', 'P0'])
  expect(names(await orders({ phone: '+16505550001' }))).toEqual(['P3', 'P1'])
  const [newest] = await orders()
  await changeOrderStatus(db, server.clock, workspace.id, newest?.id ?? '', 'done', 'x')
  expect(names(await orders({ status: 'new' }))).toEqual(['P2', 'P1', 'P0'])
  expect(names(await orders({ status: 'done' }))).toEqual(['P3'])
  const rows = await orderList.rows(db, workspace.id, {}, { ...firstPage, take: 2 })
  expect(names(rows.map(toOrder))).toEqual(['P3', 'P2'])
  const next = await orderList.rows(
    db,
    workspace.id,
    {},
    { ...firstPage, after: positionOf(rows[1] as (typeof rows)[1]) },
  )
  expect(names(next.map(toOrder))).toEqual(['P1', 'P0'])
  const theirs = (await other.orders())[0]?.id ?? ''
  for (const id of [theirs, `ord_${newUuid()}`, 'x']) {
    await expect(getOrder(db, workspace.id, id)).rejects.toThrow('Not found')
    await expect(changeOrderStatus(db, server.clock, workspace.id, id, 'done', 'x')).rejects.toThrow('Not found')
    await expect(getOrder(db, other.workspace.id, id)).rejects.toThrow('Not found')
  }
})
