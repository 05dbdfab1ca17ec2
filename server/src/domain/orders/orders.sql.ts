import type { OrderItem, OrderStatus } from '@parley/contract/order'
import type { Db } from '../../db/db.ts'
import { pagedStatement, statement } from '../../db/statement.ts'

export const insertOrders = statement(
  {
    orders: {
      id: 'uuid',
      workspaceId: 'uuid',
      messageId: 'uuid',
      senderId: 'uuid',
      sentBy: 'text',
      sentByUserId: 'text',
      profileName: 'text',
      catalogId: 'text',
      note: 'text',
      items: 'json',
      currency: 'text',
      receivedAt: 'timestamptz',
      total: 'text',
    },
    now: 'timestamptz',
  },
  ({ orders, now }) => `insert into orders (id, workspace_id, message_id, sender_id, sent_by, sent_by_user_id,
       profile_name, catalog_id, note, items, total, currency, received_at, created_at, updated_at)
     select id, workspace_id, message_id, sender_id, sent_by, sent_by_user_id, profile_name, catalog_id, note, items,
       total::numeric, currency, received_at, ${now}, ${now}
     from ${orders} order by id`,
).change

export interface OrderRow {
  id: string
  message_id: string
  sender_id: string
  sent_by: string | null
  sent_by_user_id: string | null
  profile_name: string | null
  catalog_id: string | null
  note: string | null
  items: OrderItem[]
  total: string | null
  currency: string | null
  status: OrderStatus
  received_at: Date
  created_at: Date
  updated_at: Date
}

const columns = `id, message_id, sender_id, sent_by, sent_by_user_id, profile_name, catalog_id, note, items,
  total::text as total, currency, status, received_at, created_at, updated_at`

export const orderList = pagedStatement(
  { workspaceId: 'uuid', statuses: 'text[]', from: 'text', after: 'timestamptz', before: 'timestamptz' },
  ({ workspaceId, statuses, from, after, before }) => `select ${columns} from orders
     where workspace_id = ${workspaceId} and (${statuses} is null or status = any(${statuses}))
       and (${from} is null or sent_by = ${from}) and (${after} is null or created_at >= ${after})
       and (${before} is null or created_at < ${before})`,
)

export const orderById = (db: Db, workspaceId: string, id: string): Promise<OrderRow | undefined> =>
  db.first(`select ${columns} from orders where workspace_id = $1 and id = $2`, [workspaceId, id])

export const ordersOfMessages = (db: Db, workspaceId: string, messageIds: readonly string[]): Promise<OrderRow[]> =>
  db.rows(`select ${columns} from orders where workspace_id = $1 and message_id = any($2::uuid[])`, [
    workspaceId,
    messageIds,
  ])

/** Locks the order until the transaction ends, so that changes of one order are serialized. */
export const lockOrder = (db: Db, workspaceId: string, id: string): Promise<OrderRow | undefined> =>
  db.first(`select ${columns} from orders where workspace_id = $1 and id = $2 for update`, [workspaceId, id])

export const changeStatus = statement(
  { id: 'uuid', orderId: 'uuid', workspaceId: 'uuid', from: 'text', to: 'text', by: 'text', at: 'timestamptz' },
  ({ id, orderId, workspaceId, from, to, by, at }) => `with changed as (
       update orders set status = ${to}, updated_at = ${at} where workspace_id = ${workspaceId} and id = ${orderId}
     )
     insert into order_changes (id, order_id, workspace_id, old_status, new_status, changed_by, changed_at)
     values (${id}, ${orderId}, ${workspaceId}, ${from}, ${to}, ${by}, ${at})`,
).change

export interface ChangeRow {
  old_status: OrderStatus
  new_status: OrderStatus
  changed_by: string
  changed_at: Date
}

export const changesOf = (db: Db, workspaceId: string, orderId: string): Promise<ChangeRow[]> =>
  db.rows(
    `select old_status, new_status, changed_by, changed_at from order_changes where workspace_id = $1 and order_id = $2
     order by changed_at, id`,
    [workspaceId, orderId],
  )

/** Removes the note and the name of the person from the orders of these messages. The items stay. */
export const removeOrderNotes = (db: Db, messageIds: readonly string[]): Promise<number> =>
  db.change(
    `update orders set note = null, profile_name = null
     where message_id = any($1::uuid[]) and (note is not null or profile_name is not null)`,
    [messageIds],
  )

/** Also removes the person who ordered. */
export const eraseOrders = (db: Db, workspaceId: string, messageIds: readonly string[]): Promise<number> =>
  db.change(
    `update orders set note = null, profile_name = null, sent_by = null, sent_by_user_id = null
     where workspace_id = $1 and message_id = any($2::uuid[])`,
    [workspaceId, messageIds],
  )
