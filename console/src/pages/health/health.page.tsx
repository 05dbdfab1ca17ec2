import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'

export function HealthPage() {
  return (
    <>
      <PageHeader title="Health" />
      <PageBody>
        <EmptyState icon="pulse" title="Nothing to see yet">
          How the installation is doing appears here.
        </EmptyState>
      </PageBody>
    </>
  )
}
