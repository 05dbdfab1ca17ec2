import { type OrderStatus, type OrderWithChanges, orderStatuses } from '@parley/contract/order'
import { useParams } from '@tanstack/react-router'
import { formatNumber } from '../../lib/format.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { contactFact, contactName, contactOf } from '../../parts/contact-link.tsx'
import { Button } from '../../ui/button.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { type Back, DetailPage } from '../../ui/detail-page.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Card, PageBody, Sheet } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Menu } from '../../ui/menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { lookOf, StatusBadge } from '../../ui/status-badge.tsx'
import { Moment } from '../../ui/time.tsx'
import { Timeline } from '../../ui/timeline.tsx'
import { formatMoney } from './money.ts'
import styles from './orders.module.css'
import { useChangeOrder, useOrder } from './orders.queries.ts'

export function OrderPage() {
  const here = useHere()
  const { id = '' } = useParams({ strict: false })
  const back = { to: here.path('orders'), title: 'Orders' }
  return (
    <DetailPage query={useOrder(id)} title="Order" back={back}>
      {(order) => <OrderView key={id} order={order} back={back} />}
    </DetailPage>
  )
}

function OrderView({ order, back }: { order: OrderWithChanges; back: Back }) {
  const person = contactOf(order)
  const who = order.profile_name ?? (person ? contactName(person) : 'unknown contact')
  return (
    <>
      <PageHeader
        title={
          <>
            Order from <bdi>{who}</bdi>
          </>
        }
        name={`Order from ${who}`}
        back={back}
        badge={<StatusBadge status={order.status} />}
        actions={<ChangeStatus order={order} />}
      />
      <PageBody>
        <Sheet facts={<OrderDetails order={order} />}>
          <Items order={order} />
          {order.note && (
            <Card title="Note">
              <p className={styles.note}>
                <SafeText>{order.note}</SafeText>
              </p>
            </Card>
          )}
          <Card title="History">
            <History order={order} />
          </Card>
        </Sheet>
      </PageBody>
    </>
  )
}

const next: Readonly<Partial<Record<OrderStatus, readonly [OrderStatus, string]>>> = {
  new: ['confirmed', 'Confirm'],
  confirmed: ['shipped', 'Mark as shipped'],
  shipped: ['done', 'Mark as done'],
}

/** The usual next status as a button, all others in the menu. */
function ChangeStatus({ order }: { order: OrderWithChanges }) {
  const mayChange = useCan('orders:change')
  const change = useChangeOrder(order.id)
  if (!mayChange) return null
  const step = next[order.status]
  return (
    <>
      {step && (
        <Button kind="primary" icon="check" busy={change.isPending} onClick={() => change.run(step[0])}>
          {step[1]}
        </Button>
      )}
      <Menu
        label="Change status"
        groups={[
          orderStatuses
            .filter((status) => status !== order.status)
            .map((status) => ({
              title: lookOf(status).word,
              icon: lookOf(status).icon,
              danger: status === 'cancelled',
              onSelect: () => change.run(status),
            })),
        ]}
      />
    </>
  )
}

function Items({ order: { items, total, currency } }: { order: OrderWithChanges }) {
  return (
    <Card title="Items" flush>
      <table className={styles.items} aria-label="Items">
        <thead>
          <tr>
            <th scope="col">Product</th>
            <th scope="col" className={styles.amount}>
              Quantity
            </th>
            <th scope="col" className={styles.amount}>
              Unit price
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a product may occur twice in a cart
            <tr key={index}>
              <td>
                <SafeText className="mono">{item.product_id}</SafeText>
              </td>
              <td className={styles.amount}>{item.quantity === null ? '–' : formatNumber(item.quantity)}</td>
              <td className={styles.amount}>{formatMoney(item.unit_price, item.currency)}</td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={2}>
              Total
            </th>
            <td className={styles.amount}>{total === null ? 'Unknown' : formatMoney(total, currency)}</td>
          </tr>
        </tfoot>
      </table>
    </Card>
  )
}

function History({ order }: { order: OrderWithChanges }) {
  const received = {
    key: 'received',
    title: 'Received',
    at: order.received_at,
    tone: 'note' as const,
    icon: 'arrowDown' as const,
  }
  const changes = order.changes.map(({ to, by, at }, index) => {
    const { word, ...look } = lookOf(to)
    return {
      key: `${at} ${index}`,
      title: word,
      at,
      ...look,
      children: (
        <span className="small quiet">
          by <bdi>{by}</bdi>
        </span>
      ),
    }
  })
  return <Timeline label="History" items={[received, ...changes]} />
}

function OrderDetails({ order }: { order: OrderWithChanges }) {
  const here = useHere()
  return (
    <Card title="Details">
      <KeyValue
        facts={[
          { name: 'ID', value: <CopyId id={order.id} /> },
          order.profile_name !== null && { name: 'Profile name', value: <SafeText>{order.profile_name}</SafeText> },
          contactFact(contactOf(order)),
          { name: 'Received', value: <Moment at={order.received_at} /> },
          {
            name: 'Message',
            value: <PageLink to={here.path(`messages/${order.message_id}`)}>View message</PageLink>,
          },
          order.catalog_id !== null && { name: 'Catalog ID', value: <CopyId id={order.catalog_id} /> },
        ]}
      />
    </Card>
  )
}
