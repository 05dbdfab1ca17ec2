import { expect, test } from 'vitest'
import { useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { withoutPrefix } from '../../../lib/ids.ts'
import { type Report, saveStatuses } from './statuses.ts'

const server = useTestServer()
const sending = useSending(server)

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
    occurredAt: server.clock.now(),
    error: null,
  }
  const now = server.clock.now()
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const first = server.db.transaction(async (tx) => {
    await saveStatuses(tx, now, [report, { ...report, status: 'delivered' }])
    await held
  })
  // It begins while the first still holds the message, and waits for it. A status that is behind the message's own still
  // counts if it is news.
  const second = server.db.transaction((tx) => saveStatuses(tx, now, [report]))
  await waiting()
  release()
  await Promise.all([first, second])
  const events = await server.db.rows(`select 1 from events where workspace_id = $1 and type = 'message.sent'`, [
    shop.workspace.id,
  ])
  expect(events).toHaveLength(1)
})

/** Until somebody waits for a lock. */
async function waiting(): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const row = await server.db.first(`select 1 as one from pg_stat_activity where wait_event_type = 'Lock'`)
    if (row) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('nobody waits')
}
