import { expect, test } from 'vitest'
import { mayIdle } from '../../../../testing/may-idle.ts'
import { useSending } from '../../../../testing/sending.ts'
import { useTestServer } from '../../../../testing/test-server.ts'
import { withoutPrefix } from '../../../lib/ids.ts'
import type { StatusReport } from './status-changes.ts'
import { saveStatuses } from './statuses.ts'

const server = useTestServer()
const sending = useSending(server)

test('two transactions that record the same status publish it once, and neither fails', async () => {
  const shop = await sending.newShop()
  const { id, sender_id: sender } = await shop.sendText('16505550177')
  const messageId = withoutPrefix('msg', id) as string
  const senderId = withoutPrefix('snd', sender) as string
  const report: StatusReport = {
    messageId,
    senderId,
    workspaceId: shop.workspace.id,
    waMessageId: 'wamid.race',
    status: 'sent',
    occurredAt: server.clock.now(),
    error: null,
    recipientUserId: null,
    pricing: null,
  }
  const now = server.clock.now()
  const saved = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const first = server.db.transaction(async (tx) => {
    await mayIdle(tx)
    await saveStatuses(tx, now, [report, { ...report, status: 'delivered' }])
    saved.resolve()
    await held.promise
  })
  await saved.promise
  // Starts while the first transaction still holds the lock, and waits for it. A status that is older than the message's
  // current one would still be recorded if it were new.
  const second = server.db.transaction((tx) => saveStatuses(tx, now, [report]))
  await lockIsAwaited().finally(held.resolve)
  await Promise.all([first, second])
  const events = await server.db.rows(`select 1 from events where workspace_id = $1 and type = 'message.sent'`, [
    shop.workspace.id,
  ])
  expect(events).toHaveLength(1)
})

/** Resolves when a transaction waits for a lock. */
async function lockIsAwaited(): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const row = await server.db.first(`select 1 as one from pg_stat_activity where wait_event_type = 'Lock'`)
    if (row) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('no transaction waits for a lock')
}
