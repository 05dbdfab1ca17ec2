import type { Order, OrderStatus, OrderWithChanges } from '@parley/contract/order'
import type { Db } from '../../db/db.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid, withoutPrefix, withPrefix } from '../../lib/ids.ts'
import { refuse } from '../../lib/refuse.ts'
import { changeStatus, changesOf, lockOrder, type OrderRow, orderById, ordersOfMessages } from './orders.sql.ts'

export { eraseOrders, removeOrderNotes } from './orders.sql.ts'

export async function getOrder(db: Db, workspaceId: string, id: string): Promise<OrderWithChanges> {
  const uuid = withoutPrefix('ord', id)
  const row = uuid && (await orderById(db, workspaceId, uuid))
  return row ? withChanges(db, workspaceId, row) : refuse('not_found')
}

/** The orders that arrived as these messages, by message. */
export const ordersByMessage = async (db: Db, workspaceId: string, messageIds: readonly string[]) =>
  new Map((await ordersOfMessages(db, workspaceId, messageIds)).map((row) => [row.message_id, toOrder(row)]))

/** Any status may follow any other. Setting the current status changes nothing and is not recorded. */
export async function changeOrderStatus(
  db: Db,
  clock: Clock,
  workspaceId: string,
  id: string,
  to: OrderStatus,
  by: string,
): Promise<OrderWithChanges> {
  const uuid = withoutPrefix('ord', id) ?? refuse('not_found')
  return db.transaction(async (tx) => {
    const row = (await lockOrder(tx, workspaceId, uuid)) ?? refuse('not_found')
    if (row.status === to) return withChanges(tx, workspaceId, row)
    const at = clock.now()
    await changeStatus(tx, { id: newUuid(at.getTime()), orderId: uuid, workspaceId, from: row.status, to, by, at })
    tx.notify(workspaceId, 'orders')
    return withChanges(tx, workspaceId, { ...row, status: to, updated_at: at })
  })
}

async function withChanges(db: Db, workspaceId: string, row: OrderRow): Promise<OrderWithChanges> {
  const changes = await changesOf(db, workspaceId, row.id)
  return {
    ...toOrder(row),
    changes: changes.map(({ old_status: from, new_status: to, changed_by: by, changed_at: at }) => {
      return { from, to, by, at: at.toISOString() }
    }),
  }
}

export const toOrder = ({ sent_by, sent_by_user_id, ...row }: OrderRow): Order => ({
  ...row,
  id: withPrefix('ord', row.id),
  object: 'order',
  message_id: withPrefix('msg', row.message_id),
  sender_id: withPrefix('snd', row.sender_id),
  from: sent_by,
  from_user_id: sent_by_user_id,
  received_at: row.received_at.toISOString(),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
