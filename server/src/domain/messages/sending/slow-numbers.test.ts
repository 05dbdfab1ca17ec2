import { ManualClock } from '@parley/simulator/clock'
import { expect, onTestFinished, test } from 'vitest'
import { type TestShop, useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { until } from '../../../../testing/until.ts'
import { GraphClient } from '../../../whatsapp/graph/client.ts'
import { syncConnection } from '../../connections/sync.ts'
import { newOutbox } from './outbox.ts'

const server = useTestServer()
/** It does not move before the end of the test, so the network does not respond to a slow number. */
const networkClock = new ManualClock()
const sending = useSending(server, { clock: networkClock })

const slowMs = 15_000
let numbers = 0

/** Adds numbers to the account of a shop, and returns the IDs of their senders. */
async function addNumbers(shop: TestShop, count: number): Promise<string[]> {
  const { control, network } = sending.network
  const added = Array.from({ length: count }, () => String(15_553_000_000 + ++numbers))
  for (const phoneNumber of added) control.numbers.create({ wabaId: shop.account.wabaId, phoneNumber })
  await syncConnection(network, shop.connection.id)
  const { body } = await shop.workspace.call('/v1/senders?limit=100')
  const { data } = body as { data: { id: string; phone_number: string }[] }
  return added.map((number) => data.find(({ phone_number }) => phone_number.endsWith(number))?.id ?? '')
}

function makeSlow(phoneNumbers: (phoneNumber: string) => boolean): void {
  const { control } = sending.network
  for (const { id, phoneNumber } of control.numbers.list()) {
    if (phoneNumbers(phoneNumber)) control.numbers.change(id, { switches: { respondAfterMs: slowMs } })
  }
}

/** An outbox with few slots, and a client that waits for slow responses. */
function newPatientOutbox(slotCount: number) {
  const client = new GraphClient({ productVersion: 'test', responseTimeoutMs: 60_000, deadlineMs: 60_000 })
  const responded: string[] = []
  const outbox = newOutbox({ ...sending.network.network, client }, server.runtime.log, {
    slotCount,
    onStep: (step, messageId) => void (step === 'responded' && responded.push(`msg_${messageId}`)),
  })
  onTestFinished(async () => {
    await networkClock.advance(slowMs)
    await outbox.stop()
    await client.close()
  })
  return { outbox, responded }
}

test('numbers whose sends get slow responses delay no message of other workspaces, nor of other numbers of their own', async () => {
  const slow = await sending.newShop(200)
  const [second = '', third = ''] = await addNumbers(slow, 2)
  const other = await sending.newShop()
  // All numbers of the first workspace but the last one.
  makeSlow((number) => number === slow.account.phoneNumber || number === String(15_553_000_000 + numbers - 1))
  const slowIds = new Set<string>()
  for (let n = 0; n < 40; n++) {
    for (const sender_id of [slow.senderId, second]) {
      slowIds.add((await slow.sendText(String(16_505_580_000 + n), { sender_id })).id)
    }
  }
  const { outbox, responded } = newPatientOutbox(32)
  // Fill all slots that the slow numbers get.
  let started = 0
  for (let round = 0; round < 8; round++) {
    started += await outbox.sendDue()
    server.clock.forward({ ms: 200 })
  }
  expect(started).toBeGreaterThan(8)
  expect(started).toBeLessThanOrEqual(16)
  server.clock.forward({ minutes: 1 })
  const fast: string[] = []
  for (let n = 0; n < 10; n++) {
    fast.push((await slow.sendText(String(16_505_590_000 + n), { sender_id: third })).id)
    fast.push((await other.sendText(String(16_505_590_000 + n))).id)
  }
  await until('the other numbers have sent everything', async () => {
    await outbox.sendDue()
    server.clock.forward({ ms: 100 })
    return responded.length >= fast.length
  })
  expect(new Set(responded)).toEqual(new Set(fast))
  expect(responded.some((id) => slowIds.has(id))).toBe(false)
})

test('a number whose calls get no response is held for one, two and four seconds', async () => {
  const shop = await sending.newShop()
  makeSlow((number) => number === shop.account.phoneNumber)
  const client = new GraphClient({ productVersion: 'test', responseTimeoutMs: 50, deadlineMs: 50 })
  const outbox = newOutbox({ ...sending.network.network, client }, server.runtime.log)
  onTestFinished(async () => {
    await outbox.stop()
    await client.close()
  })
  const heldForMs: number[] = []
  for (const failures of [1, 2, 3]) {
    await shop.sendText('16505580100')
    await outbox.sendDue()
    const hold = await until('the number is held', async () => {
      const [row] = await server.db.rows<{ until: Date }>(
        'select until from sending_holds where subject_id = $1 and failures = $2',
        [shop.senderId.slice(4), failures],
      )
      return row
    })
    const ms = hold.until.getTime() - server.clock.now().getTime()
    heldForMs.push(ms)
    server.clock.forward({ ms })
  }
  expect(heldForMs).toEqual([1000, 2000, 4000])
})
