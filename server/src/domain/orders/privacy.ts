/** Removes what people wrote with their orders, and finds it for an export. */
import type { Order } from '@parley/contract/order'
import type { Db } from '../../db/db.ts'
import { ordersOfMessages } from './orders.sql.ts'
import { toOrder } from './orders.ts'

export { eraseOrders, removeOrderNotes } from './orders.sql.ts'

/** The orders that arrived as these messages, by message. */
export const ordersByMessage = async (
  db: Db,
  workspaceId: string,
  messageIds: readonly string[],
): Promise<Map<string, Order>> =>
  new Map((await ordersOfMessages(db, workspaceId, messageIds)).map((row) => [row.message_id, toOrder(row)]))
