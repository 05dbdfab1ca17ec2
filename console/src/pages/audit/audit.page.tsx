import { useState } from 'react'
import { deedOf, sentenceOf } from '../../lib/deeds.ts'
import { deviceOf } from '../../lib/device.ts'
import { useSearchParam, useSearchParams } from '../../lib/url.ts'
import { Avatar } from '../../ui/avatar.tsx'
import { Button } from '../../ui/button.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './audit.module.css'
import { useAudit, useExport, useFacets } from './audit.queries.ts'
import { EntryDrawer } from './entry-drawer.tsx'

export function AuditPage() {
  const list = useAudit()
  const facets = useFacets().data
  const [open, setOpen] = useSearchParam('open', { push: true })
  const [search] = useSearchParams()
  const entry = list.rows?.find(({ id }) => id === open)
  const isFiltered = Boolean(search.actor || search.action || search.target)
  return (
    <>
      <PageHeader
        title="Audit log"
        detail="Who did what here, and from where. Nobody can change it."
        actions={<Export />}
      />
      <PageBody>
        <FilterBar
          filters={[
            { kind: 'select', name: 'actor', title: 'Who', options: (facets?.actors ?? []).map(option) },
            {
              kind: 'select',
              name: 'action',
              title: 'What',
              options: (facets?.actions ?? []).map((action) => ({ value: action, title: deedOf(action) })),
            },
            { kind: 'text', name: 'target', title: 'Id of the thing' },
          ]}
        />
        <DataTable
          label="Audit log"
          list={list}
          rowKey={({ id }) => id}
          onOpen={({ id }) => setOpen(id)}
          openKey={open}
          columns={[
            {
              key: 'what',
              title: 'What',
              cell: (each) => (
                <span className={styles.what}>
                  <Avatar name={each.actor} size={22} />
                  <span>
                    <bdi className={styles.actor}>{each.actor}</bdi> <bdi>{sentenceOf(each)}</bdi>
                  </span>
                </span>
              ),
            },
            {
              key: 'address',
              title: 'Address',
              width: 150,
              hideOn: 'phone',
              cell: (each) => <SafeText className="mono">{each.address}</SafeText>,
            },
            {
              key: 'device',
              title: 'Device',
              width: 190,
              hideOn: 'tablet',
              cell: ({ user_agent }) => (user_agent ? deviceOf(user_agent) : <span className="quiet">–</span>),
            },
            { key: 'at', title: 'When', width: 120, align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
          ]}
          empty={
            isFiltered ? (
              <EmptyState icon="audit" title="Nothing matches">
                No entry fits these filters. Take one away to see more.
              </EmptyState>
            ) : (
              <EmptyState icon="audit" title="Nothing on record yet">
                Every change somebody makes in this workspace appears here: keys, webhooks, the team, settings.
              </EmptyState>
            )
          }
        />
      </PageBody>
      <EntryDrawer entry={entry} isOpen={open !== null && !list.isLoading} onClose={() => setOpen(null)} />
    </>
  )
}

const option = (value: string) => ({ value, title: value })

function Export() {
  const keep = useExport()
  const [busy, setBusy] = useState(false)
  return (
    <Button
      icon="download"
      busy={busy}
      onClick={async () => {
        setBusy(true)
        await keep().then(
          () => toast.done('The file is with your downloads'),
          (error) => toast.failed(error),
        )
        setBusy(false)
      }}
    >
      Export CSV
    </Button>
  )
}
