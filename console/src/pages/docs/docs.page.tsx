import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'

export function DocsPage() {
  return (
    <>
      <PageHeader title="Docs" />
      <PageBody>
        <EmptyState icon="docs" title="Nothing to see yet">
          How to use the API is explained here.
        </EmptyState>
      </PageBody>
    </>
  )
}
