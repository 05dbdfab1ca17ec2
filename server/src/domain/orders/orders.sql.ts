import type { OrderItem, OrderStatus } from '@parley/contract/order'
import type { Db } from '../../db/db.ts'
import { type KeySet, keySetClause, keySetValues } from '../../lib/key-set.ts'

export interface NewOrder {
  id: string
  workspaceId: string
  messageId: string
  senderId: string
  sentBy: string | null
  sentByUserId: string | null
  profileName: string | null
  catalogId: string | null
  note: string | null
  items: OrderItem[]
  total: string | null
  currency: string | null
  receivedAt: Date
}

export const insertOrders = (db: Db, rows: readonly NewOrder[], now: Date): Promise<number> =>
  db.change(
    `insert into orders (id, workspace_id, message_id, sender_id, sent_by, sent_by_user_id, profile_name, catalog_id, note,
       items, total, currency, received_at, created_at, updated_at)
     select n.*, $14, $14
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::text[], $10::json[], $11::numeric[], $12::text[], $13::timestamptz[]) as n
     order by 1`,
    [
      rows.map((row) => row.id),
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.messageId),
      rows.map((row) => row.senderId),
      rows.map((row) => row.sentBy),
      rows.map((row) => row.sentByUserId),
      rows.map((row) => row.profileName),
      rows.map((row) => row.catalogId),
      rows.map((row) => row.note),
      rows.map((row) => JSON.stringify(row.items)),
      rows.map((row) => row.total),
      rows.map((row) => row.currency),
      rows.map((row) => row.receivedAt),
      now,
    ],
  )

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

export interface OrderFilters {
  status?: OrderStatus | undefined
  from?: string | undefined
}

const shown = `workspace_id = $1 and ($2::text is null or status = $2) and ($3::text is null or sent_by = $3)`

const shownValues = (workspaceId: string, { status, from }: OrderFilters) => [workspaceId, status ?? null, from ?? null]

export const ordersOf = (db: Db, workspaceId: string, filters: OrderFilters, page: KeySet): Promise<OrderRow[]> =>
  db.rows(`select ${columns} from orders where ${shown} ${keySetClause(page, 4)}`, [
    ...shownValues(workspaceId, filters),
    ...keySetValues(page),
  ])

export const orderById = (db: Db, workspaceId: string, id: string): Promise<OrderRow | undefined> =>
  db.first(`select ${columns} from orders where workspace_id = $1 and id = $2`, [workspaceId, id])

/** The same, held until the transaction ends: changes of one order come one after the other. */
export const holdOrder = (db: Db, workspaceId: string, id: string): Promise<OrderRow | undefined> =>
  db.first(`select ${columns} from orders where workspace_id = $1 and id = $2 for update`, [workspaceId, id])

export interface NewChange {
  id: string
  orderId: string
  workspaceId: string
  from: OrderStatus
  to: OrderStatus
  by: string
  at: Date
}

export const changeStatus = (db: Db, change: NewChange): Promise<number> =>
  db.change(
    `with changed as (
       update orders set status = $5, updated_at = $7 where workspace_id = $3 and id = $2
     )
     insert into order_changes (id, order_id, workspace_id, old_status, new_status, changed_by, changed_at)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [change.id, change.orderId, change.workspaceId, change.from, change.to, change.by, change.at],
  )

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
