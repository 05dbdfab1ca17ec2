import { expect, test } from 'vitest'
import { useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import type { Outbox, Step } from './outbox.ts'

const server = useTestServer()
const sending = useSending(server)

test.for(['claimed', 'calling'] as const)(
  'a message that is %s when its process stops is returned immediately, and another process sends it once',
  async (step: Step) => {
    const shop = await sending.newShop()
    const to = step === 'claimed' ? '16505550401' : '16505550402'
    const { id } = await shop.sendText(to)
    let stopped: Promise<void> = Promise.resolve()
    const outbox: Outbox = sending.newOutbox({
      onStep(reached) {
        if (reached === step) stopped = outbox.stop()
      },
    })
    expect(await outbox.sendDue()).toBe(1)
    await outbox.stop()
    await stopped
    expect(await server.db.rows('select state, attempts, lease from outbox')).toEqual([
      { state: 'waiting', attempts: 0, lease: null },
    ])
    expect(shop.taken(to)).toEqual([])
    await sending.drain()
    expect(shop.taken(to)).toHaveLength(1)
    expect(await shop.look(id)).toMatchObject({ status: 'read' })
  },
)
