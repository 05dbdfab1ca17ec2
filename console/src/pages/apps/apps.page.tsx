import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'

export function AppsPage() {
  return (
    <>
      <PageHeader title="Apps and connections" />
      <PageBody>
        <EmptyState icon="plug" title="Nothing to see yet">
          Apps and connected accounts appear here.
        </EmptyState>
      </PageBody>
    </>
  )
}
