import { OrderChangeRequest, OrderFilters, OrderQuery } from '@parley/contract/console/orders'
import { OrderId } from '@parley/contract/ids'
import { Order, OrderWithChanges } from '@parley/contract/order'
import { Type } from 'typebox'
import { listRoutes } from '../../http/console/list-routes.ts'
import { type ConsoleRoute, workspaceRoute } from '../../http/console/route.ts'
import { orders } from './console.ts'
import { changeOrderStatus, getOrder } from './orders.ts'

const OneOrder = Type.Object({ id: OrderId })

export const orderConsoleRoutes = (): ConsoleRoute[] => [
  ...listRoutes({ path: '/orders', who: 'orders:read', query: OrderQuery, filters: OrderFilters, item: Order }, orders),
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
      return order
    },
  }),
]
