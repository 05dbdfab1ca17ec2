import type { Order, OrderStatus, OrderWithChanges } from '@parley/contract/order'
import { useData, useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { useAction } from '../../lib/use-action.ts'

export const useOrders = (filters: Readonly<Record<string, string>>) =>
  useList<Order>(useHere().api('orders'), filters, ['orders', 'messages'])

export const useOrder = (id: string) => useData<OrderWithChanges>(useHere().api(`orders/${id}`), { topics: ['orders'] })

export function useChangeOrder(id: string) {
  const orders = useHere().api('orders')
  return useAction((send, status: OrderStatus) => send<OrderWithChanges>('PATCH', `${orders}/${id}`, { status }), {
    refetch: [orders],
    done: (order) => `Order marked as ${order.status}`,
  })
}
