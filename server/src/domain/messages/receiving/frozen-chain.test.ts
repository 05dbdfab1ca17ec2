import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { signatureOf } from '../../../../testing/network-app.ts'
import { newProcessShop } from '../../../../testing/shop-process.ts'
import { until } from '../../../../testing/until.ts'

test('a frozen process whose status waits for a lock does not get the lock afterwards and keep it', async () => {
  const shop = await newProcessShop()
  const { db, control, app, phoneNumberId } = shop
  control.switches.set({ sentAfterMs: 3_600_000, deliveredAfterMs: 3_600_000, readAfterMs: null })
  const service = await shop.spawn()
  expect((await shop.sendText(service, '16505550101')).status).toBe(202)
  const { id, wamid } = await until('it is sent', () =>
    db.first<{ id: string; wamid: string }>(
      'select id, wa_message_id as wamid from messages where wa_message_id is not null',
    ),
  )
  const holder = new pg.Client(shop.connection)
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query("set parley.workspace = 'all'")
  await holder.query('begin')
  const lock = 'select 1 from messages where id = $1 for update'
  await holder.query(lock, [id])

  const status = { id: wamid, status: 'delivered', timestamp: '1786000000', recipient_id: '16505550101' }
  const metadata = { display_phone_number: '15550780001', phone_number_id: phoneNumberId }
  const value = { messaging_product: 'whatsapp', metadata, statuses: [status] }
  const body = JSON.stringify({
    object: 'whatsapp_business_account',
    entry: [{ id: '1', changes: [{ field: 'messages', value }] }],
  })
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signatureOf(app.secret, body) }
  const posted = fetch(service.url + app.path, { method: 'POST', headers, body })
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await until('the process waits for the lock', async () => (await db.rows(waiting)).length > 0)
  service.child.kill('SIGSTOP')
  // Longer than it waits. PostgreSQL would let it keep the lock for five seconds.
  await sleep(6_000)
  await holder.query('commit')
  // Enough for a transaction that still waits to get it.
  await sleep(1_500)
  await holder.query(`${lock} nowait`, [id])
  service.child.kill('SIGCONT')
  expect((await posted).status).toBe(200)
  await until('the status is stored', () => db.first("select 1 from messages where status = 'delivered'"))
})
