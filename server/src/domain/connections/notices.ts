import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { type Notice, noticeEffect } from '../../whatsapp/incoming/notice-effect.ts'
import { changeSender, changeSendersOf } from '../senders/change-senders.ts'
import { changeStatus } from './connections.sql.ts'
import { scheduleSync } from './connections.ts'

/** Applies a notice about an account or a number immediately. The sync that follows fetches the complete state. */
export async function applyAccountNotice(db: Db, clock: Clock, appId: string, notice: Notice): Promise<void> {
  if (notice.about === 'form') return
  const effect = noticeEffect(notice)
  await db.transaction(async (tx) => {
    const connection = await scheduleSync(tx, clock, appId, notice.wabaId)
    if (!connection || effect === null) return
    const owner = { workspaceId: connection.workspaceId, connectionId: connection.id }
    const now = clock.now()
    tx.notify(owner.workspaceId, 'senders')
    const { number, reason } = effect
    if (effect.about === 'account') {
      const { status, until, senderStatus } = effect
      const at = notice.occurredAt
      const isChanged =
        number === null
          ? (await changeStatus(tx, { id: connection.id, status, reason, until, at })) > 0
          : connection.statusAt === null || connection.statusAt <= at
      if (!isChanged) return
      if (senderStatus !== null) return changeSendersOf(tx, owner, number, { status: senderStatus, reason }, now)
    }
    if (number !== null) await changeSender(tx, owner, number, effect, now)
  })
}
