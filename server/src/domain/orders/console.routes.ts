import { ConsoleList } from '@parley/contract/console/list'
import { OrderChangeRequest, OrderFilters, OrderQuery } from '@parley/contract/console/orders'
import { OrderId } from '@parley/contract/ids'
import { Order, OrderWithChanges } from '@parley/contract/order'
import { Type } from 'typebox'
import { csvRoute, totalRoute } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { consolePageOf, readConsolePage } from '../../http/page.ts'
import { exportOrders, listOrders, totalOfOrders } from './console.ts'
import { changeOrderStatus, getOrder, markOf, toOrder } from './orders.ts'

const OneOrder = Type.Object({ id: OrderId })

export const orderConsoleRoutes = (): ConsoleRoute[] => [
  workspaceRoute({
    method: 'GET',
    path: '/orders',
    who: 'orders:read',
    mayLag: true,
    query: OrderQuery,
    reply: ConsoleList(Order),
    async handle({ db, workspaceId }, { query }) {
      const page = readConsolePage(query)
      const rows = await listOrders(db, workspaceId, query, page)
      return consolePageOf(page, rows, markOf, toOrder)
    },
  }),
  workspaceRoute({
    method: 'GET',
    path: '/orders/:id',
    who: 'orders:read',
    params: OneOrder,
    reply: OrderWithChanges,
    handle: ({ db, workspaceId }, { params }) => getOrder(db, workspaceId, params.id),
  }),
  workspaceRoute({
    method: 'PATCH',
    path: '/orders/:id',
    who: 'orders:change',
    params: OneOrder,
    body: OrderChangeRequest,
    reply: OrderWithChanges,
    async handle({ db, clock, workspaceId, person, audit }, { params, body }) {
      const before = await getOrder(db, workspaceId, params.id)
      const order = await changeOrderStatus(db, clock, workspaceId, params.id, body.status, person.email)
      // Without the person: audit entries are never changed, so one who is erased would stay in them.
      await audit({ action: 'order.status', target: order.id, before: { status: before.status }, after: body })
      db.notify(workspaceId, 'orders')
      return order
    },
  }),
  totalRoute({
    path: '/orders',
    who: 'orders:read',
    query: OrderFilters,
    total: ({ db, workspaceId }, filters) => totalOfOrders(db, workspaceId, filters),
  }),
  csvRoute({
    path: '/orders',
    who: 'orders:read',
    query: OrderFilters,
    lines: ({ db, workspaceId }, filters) => exportOrders(db, workspaceId, filters),
  }),
]
