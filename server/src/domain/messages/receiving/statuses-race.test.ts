import { expect, test } from 'vitest'
import { useHouse } from '../../../../testing/house.ts'
import { useSending } from '../../../../testing/sending.ts'
import { withoutPrefix } from '../../../lib/ids.ts'
import { keepStatuses, type Report } from './statuses.ts'

const house = useHouse()
const sending = useSending(house)

test('two that report the same status at once: one of them counts, and neither fails', async () => {
  const shop = await sending.newShop()
  const { id, sender_id: sender } = await shop.sendText('16505550177')
  const messageId = withoutPrefix('msg', id) as string
  const senderId = withoutPrefix('snd', sender) as string
  const report: Report = {
    messageId,
    senderId,
    workspaceId: shop.workspace.id,
    waMessageId: 'wamid.race',
    status: 'sent',
    occurredAt: house.clock.now(),
    error: null,
  }
  const now = house.clock.now()
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const first = house.db.transaction(async (tx) => {
    await keepStatuses(tx, now, [report, { ...report, status: 'delivered' }])
    await held
  })
  // It begins while the first still holds the message, and waits for it. A status that is behind the message's own still
  // counts if it is news.
  const second = house.db.transaction((tx) => keepStatuses(tx, now, [report]))
  await waiting()
  release()
  await Promise.all([first, second])
  const events = await house.db.rows(`select 1 from events where workspace_id = $1 and type = 'message.sent'`, [
    shop.workspace.id,
  ])
  expect(events).toHaveLength(1)
})

/** Until somebody waits for a lock. */
async function waiting(): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const row = await house.db.first(`select 1 as one from pg_stat_activity where wait_event_type = 'Lock'`)
    if (row) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('nobody waits')
}
