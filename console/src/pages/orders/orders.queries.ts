import type { Order, OrderStatus, OrderWithChanges } from '@parley/contract/order'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useLive } from '../../lib/live.ts'
import { useList } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { toast } from '../../ui/toasts.tsx'

export function useOrders(filters: Partial<Record<'status' | 'phone', string>>) {
  const here = useHere()
  const path = here.api('orders')
  useLive(here.id, ['orders', 'messages'], [[path]])
  return useList<Order>(path, filters)
}

export function useOrder(id: string) {
  const here = useHere()
  const path = here.api(`orders/${id}`)
  useLive(here.id, ['orders'], [[path]])
  return useQuery({ queryKey: [path], queryFn: ({ signal }) => api<OrderWithChanges>(path, { signal }) })
}

export function useChangeOrder(id: string) {
  const here = useHere()
  const client = useQueryClient()
  const path = here.api(`orders/${id}`)
  return useMutation({
    mutationFn: (status: OrderStatus) => api<OrderWithChanges>(path, { method: 'PATCH', body: { status } }),
    onSuccess: (order) => {
      client.setQueryData([path], order)
      void client.invalidateQueries({ queryKey: [here.api('orders')] })
      toast.done(`The order is now ${order.status}`)
    },
    onError: (error) => toast.failed(error),
  })
}
