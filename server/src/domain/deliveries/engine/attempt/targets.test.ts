import { expect, onTestFinished, test } from 'vitest'
import { newLine } from '../../../../../testing/deliveries.ts'
import { useReceivers } from '../../../../../testing/receiver.ts'
import { useTestServer } from '../../../../../testing/test-server.ts'
import type { Session } from '../../../../db/connect/session.ts'
import { Targets } from './targets.ts'

const server = useTestServer()
const newReceiver = useReceivers()

/** The targets of an endpoint. `beforeRead` runs before each read of the routing revision. */
async function setUp(beforeRead: (reads: number) => void) {
  const { id } = await (await newLine(server)).listen(await newReceiver())
  let reads = 0
  const session = async (): Promise<Session> => {
    const opened = await server.db.session()
    return {
      ...opened,
      rows(text, values) {
        beforeRead(++reads)
        return opened.rows(text, values)
      },
    }
  }
  const targets = new Targets({ ...server.db, session }, server.clock, server.secretKeys, () => {})
  onTestFinished(() => targets.close())
  const webhookId = id.slice(4)
  /** Reads it until it is current: on a busy machine the read may take as long. */
  async function read() {
    for (;;) {
      await targets.read([webhookId])
      const target = targets.get(webhookId)
      if (target) return target
    }
  }
  return { targets, webhookId, read, reads: () => reads }
}

test('a target is current for 100 ms after the read of the revision began, even while the machine is suspended', async () => {
  const { targets, webhookId, read, reads } = await setUp(() => {})
  expect(targets.get(webhookId)).toBeUndefined()
  expect((await read()).enabled).toBe(true)
  server.clock.forward({ ms: 100 })
  expect(targets.get(webhookId)).toBeUndefined()
  const before = reads()
  await targets.read([webhookId])
  expect(reads()).toBeGreaterThan(before)
})

test('a read of the revision that takes 100 ms is repeated, and used by the waiting attempts if all reads take that long', async () => {
  const once = await setUp((reads) => reads === 1 && server.clock.forward({ ms: 100 }))
  await once.read()
  expect(once.reads()).toBeGreaterThan(1)
  const always = await setUp(() => server.clock.forward({ ms: 100 }))
  const late = await always.targets.read([always.webhookId])
  expect([late?.get(always.webhookId)?.enabled, always.reads()]).toEqual([true, 5])
  // The next attempt has to read it again.
  expect(always.targets.get(always.webhookId)).toBeUndefined()
})

test('reads that are followed by an expiration each do not delay an attempt forever', async () => {
  const { targets, webhookId, reads } = await setUp(() => targets.expire())
  expect((await targets.read([webhookId]))?.get(webhookId)?.enabled).toBe(true)
  expect(reads()).toBe(5)
})

test('a read of the revision that began before it expired does not count', async () => {
  const { targets, read, reads } = await setUp((count) => count === 1 && targets.expire())
  await read()
  expect(reads()).toBeGreaterThan(1)
})
