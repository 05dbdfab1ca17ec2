import { expect, test } from 'vitest'
import { ledgerOf } from '../../../testing/ledger.ts'
import { useSending } from '../../../testing/sending.ts'
import { useTestServer } from '../../../testing/test-server.ts'
import { newLogger } from '../../telemetry/logger.ts'
import { giveCredits, readBalance } from './credits.ts'
import { listPrices, setPrice } from './prices.ts'
import { verifyLedger } from './verify-ledger.ts'

const server = useTestServer()
const sending = useSending(server)
const log = newLogger('silent')

const text = { to: '16505550123', type: 'text', text: { body: 'hi' } }

test('of 100 concurrent sends with 10 credits, ten are accepted, ninety get 402, and the ledger matches the balance', async () => {
  const { workspace, send } = await sending.newShop(10)
  const { secret } = await workspace.newKey()
  const responses = await Promise.all(
    Array.from({ length: 100 }, () => server.call('/v1/messages', { method: 'POST', key: secret, body: text })),
  )
  expect(responses.filter(({ status }) => status === 202)).toHaveLength(10)
  const refused = responses.filter(({ status }) => status === 402)
  expect(refused).toHaveLength(90)
  for (const { body } of refused) {
    expect(body).toMatchObject({ error: { code: 'insufficient_credits', details: { required: 1, available: 0 } } })
  }
  expect(await readBalance(server.db, workspace.id)).toBe(0)
  const entries = await ledgerOf(server.db, workspace.id)
  expect(entries.map(({ kind }) => kind).sort()).toEqual([...Array(10).fill('debit'), 'grant'])
  expect(entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(0)
  const stored = await server.db.first('select count(*) as count from messages where workspace_id = $1', [workspace.id])
  expect(stored).toEqual({ count: 10 })
  expect((await send(text)).status).toBe(402)
  expect(await verifyLedger(server.db, log)).toEqual([])
})

test('a message that the network refuses, or that fails later, is refunded once', async () => {
  const shop = await sending.newShop(5)
  const refused = await shop.sendText('15551131009')
  const later = await shop.sendText('15550131026')
  const read = await shop.sendText('16505550123')
  expect(await readBalance(server.db, shop.workspace.id)).toBe(2)
  await sending.drain()
  await sending.drain()
  for (const { id } of [refused, later]) expect(await shop.look(id)).toMatchObject({ status: 'failed', credits: 1 })
  expect(await shop.look(read.id)).toMatchObject({ status: 'read' })
  expect(await readBalance(server.db, shop.workspace.id)).toBe(4)
  const refunds = (await ledgerOf(server.db, shop.workspace.id)).filter(({ kind }) => kind === 'refund')
  expect(refunds.map(({ message_id, amount }) => [`msg_${message_id}`, amount]).sort()).toEqual(
    [
      [refused.id, 1],
      [later.id, 1],
    ].sort(),
  )
  expect(await verifyLedger(server.db, log)).toEqual([])
})

test('the operator can add and remove credits with a note, but not below zero', async () => {
  const { workspace } = await sending.newShop(0)
  const give = (amount: number, note = 'invoice 7') => giveCredits(server.db, server.clock, workspace.id, amount, note)
  expect(await give(50)).toBe(50)
  expect(await give(-20)).toBe(30)
  await expect(give(-31)).rejects.toMatchObject({ code: 'validation_failed' })
  await expect(give(0)).rejects.toMatchObject({ parts: { param: 'amount' } })
  await expect(give(1.5)).rejects.toMatchObject({ parts: { param: 'amount' } })
  await expect(give(1, ' ')).rejects.toMatchObject({ parts: { param: 'note' } })
  expect((await ledgerOf(server.db, workspace.id)).map(({ kind, amount }) => [kind, amount])).toEqual([
    ['adjust', -20],
    ['grant', 50],
  ])
})

test('ledger entries cannot be changed or deleted', async () => {
  await sending.newShop(1)
  for (const statement of ['update credit_entries set amount = 7', 'delete from credit_entries']) {
    await expect(server.db.change(statement)).rejects.toThrow('never changed or deleted')
  }
  await expect(server.db.script('truncate credit_entries')).rejects.toThrow('never changed or deleted')
})

test('a balance that is not the sum of its entries is logged as an error', async () => {
  const { workspace } = await sending.newShop(3)
  const lines: string[] = []
  const errorLog = newLogger('error', { write: (line) => void lines.push(line) })
  await server.db.change('update credit_balances set balance = 4 where workspace_id = $1', [workspace.id])
  expect(await verifyLedger(server.db, errorLog)).toEqual([{ workspace_id: workspace.id, balance: 4, entered: 3 }])
  expect(lines.join()).toContain('credits.balance_wrong')
  await server.db.change('update credit_balances set balance = 3 where workspace_id = $1', [workspace.id])
})

test('a message costs the price of its type, and a template that of its category', async () => {
  const shop = await sending.newShop(20)
  await setPrice(server.db, 'image', 3)
  await setPrice(server.db, 'template', 2)
  await setPrice(server.db, 'template.MARKETING', 5)
  await setPrice(server.db, 'text', 0)
  shop.account.addTemplate({ name: 'sale', category: 'MARKETING' })
  await server.db.change('update connections set sync_due_at = $1', [server.clock.now()])
  await sending.network.drain()
  const costOf = async (body: object) =>
    ((await shop.send({ to: '16505550123', ...body })).body as { credits: number }).credits
  const template = (name: string) => ({
    type: 'template',
    template: { name, language: 'en', variables: { 'body.1': 'Ana' } },
  })
  expect(await costOf({ type: 'image', image: { link: 'https://example.com/a.png' } })).toBe(3)
  expect(await costOf(template('greeting'))).toBe(2)
  expect(await costOf(template('sale'))).toBe(5)
  expect(await costOf({ type: 'text', text: { body: 'free' } })).toBe(0)
  expect(await costOf({ type: 'location', location: { latitude: 1, longitude: 2 } })).toBe(1)
  expect(await readBalance(server.db, shop.workspace.id)).toBe(9)
  expect((await listPrices(server.db)).find(({ item }) => item === 'template.UTILITY')).toEqual({
    item: 'template.UTILITY',
    credits: 2,
  })
  await expect(setPrice(server.db, 'fax', 1)).rejects.toMatchObject({ parts: { param: 'item' } })
  for (const item of ['image', 'template', 'template.MARKETING', 'text']) await setPrice(server.db, item, 1)
})
