import { DeliveryList } from '../../parts/deliveries/delivery-list.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useEndpointNames } from './deliveries.queries.ts'

export function DeliveriesPage() {
  return (
    <>
      <PageHeader
        title="Deliveries"
        detail="Every event for every endpoint: what was sent, what came back, and what happens next."
      />
      <PageBody>
        <DeliveryList webhooks={useEndpointNames()} />
      </PageBody>
    </>
  )
}
