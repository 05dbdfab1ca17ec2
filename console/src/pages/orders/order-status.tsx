import type { OrderStatus } from '@parley/contract/order'
import type { IconName } from '../../ui/icon.tsx'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'

export const looks: Readonly<Record<OrderStatus, readonly [word: string, tone: Tone, icon: IconName]>> = {
  new: ['New', 'note', 'circle'],
  confirmed: ['Confirmed', 'note', 'check'],
  shipped: ['Shipped', 'warn', 'arrowRight'],
  done: ['Done', 'good', 'checkCircle'],
  cancelled: ['Cancelled', 'calm', 'minusCircle'],
}

export function OrderStatusBadge({ status }: { status: OrderStatus }) {
  const [word, tone, icon] = looks[status]
  return <StatusBadge status={status} word={word} tone={tone} icon={icon} />
}
