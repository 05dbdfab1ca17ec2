import { type List, useData } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { DeliveryList } from '../../parts/deliveries/delivery-list.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'

export function DeliveriesPage() {
  const webhooks = useData<List<{ id: string; name: string }>>(useHere().api('webhooks'))
  return (
    <>
      <PageHeader title="Deliveries" detail="Every event sent to your webhooks, with each attempt and its response." />
      <PageBody>
        <DeliveryList webhooks={webhooks.data?.data ?? []} />
      </PageBody>
    </>
  )
}
