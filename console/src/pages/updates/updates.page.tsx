import { updateOutcomes } from '@parley/contract/network-update'
import { formatNumber } from '../../lib/format.ts'
import { useFilters, useSearchParam, useSearchParams } from '../../lib/url.ts'
import { Button } from '../../ui/button.tsx'
import { numberColumn, timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { PageBody, Row, Stack } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { OutcomeBadge, outcomes } from './outcomes.tsx'
import { UpdateDrawer } from './update-drawer.tsx'
import { type FieldCount, type UpdateRow, useUpdates } from './updates.queries.ts'

export function UpdatesPage() {
  const filters = useFilters('field', 'outcome', 'workspace')
  const [{ before }, change] = useSearchParams()
  const [open, setOpen] = useSearchParam('open', { push: true })
  const { data, error, isPending, isFetching, refetch } = useUpdates({ ...filters, ...(before && { before }) })
  const state = { error, isLoading: isPending, isRefreshing: isFetching, retry: () => void refetch() }
  const fields = [...new Set(data?.fields.map(({ field }) => field))].sort()
  const last = data?.data.at(-1)
  return (
    <>
      <PageHeader
        title="Network updates"
        detail="What WhatsApp sent and Parley did not understand completely. It is stored as it arrived, and read again by the next version."
      />
      <PageBody>
        <Stack gap={4}>
          {!data || data.fields.length > 0 ? (
            <>
              <DataTable
                label="Updates by field"
                list={{ ...state, rows: data?.fields }}
                rowKey={({ field, outcome }) => `${field} ${outcome}`}
                onOpen={({ field, outcome }) => change({ field, outcome, before: null })}
                openKey={`${filters.field} ${filters.outcome}`}
                columns={countColumns}
              />
              <FilterBar
                page="before"
                filters={[
                  {
                    kind: 'select',
                    name: 'field',
                    title: 'Field',
                    options: fields.map((field) => ({ value: field, title: field })),
                  },
                  {
                    kind: 'select',
                    name: 'outcome',
                    title: 'Outcome',
                    options: updateOutcomes.map((value) => ({ value, title: outcomes[value].title })),
                  },
                ]}
              />
            </>
          ) : null}
          <DataTable
            label="Network updates"
            list={{ ...state, rows: data?.data }}
            rowKey={({ id }) => id}
            onOpen={({ id }) => setOpen(id)}
            openKey={open}
            columns={updateColumns}
            empty={
              Object.keys(filters).length > 0 ? (
                <EmptyState icon="search" title="No matching updates">
                  Remove a filter to see more.
                </EmptyState>
              ) : (
                <EmptyState icon="checkCircle" title="Everything was understood">
                  An update that Parley cannot read completely appears here.
                </EmptyState>
              )
            }
          />
          {(before || data?.has_more) && (
            <Row justify="center">
              {before && <Button onClick={() => change({ before: null })}>Newest updates</Button>}
              {data?.has_more && last && (
                <Button onClick={() => change({ before: last.id }, { push: true })}>Older updates</Button>
              )}
            </Row>
          )}
        </Stack>
      </PageBody>
      <UpdateDrawer id={open} onClose={() => setOpen(null)} />
    </>
  )
}

const countColumns: readonly Column<FieldCount>[] = [
  { key: 'field', title: 'Field', cell: ({ field }) => <SafeText className="mono clip">{field}</SafeText> },
  { key: 'outcome', title: 'Outcome', width: 180, cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  numberColumn('count', 'Count', ({ count }) => formatNumber(count), { width: 100 }),
  timeColumn('last', 'Last seen', ({ last_received_at }) => last_received_at),
]

const updateColumns: readonly Column<UpdateRow>[] = [
  {
    key: 'field',
    title: 'Field',
    width: 220,
    cell: ({ field }) => <SafeText className="mono clip">{field}</SafeText>,
  },
  { key: 'outcome', title: 'Outcome', width: 180, cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
  {
    key: 'unread',
    title: 'Not read',
    cell: ({ unread }) =>
      unread.length === 0 ? (
        <span className="quiet">The whole value</span>
      ) : (
        <span className="clip">
          <Chip mono>{unread[0]}</Chip>
          {unread.length > 1 && <span className="quiet"> and {unread.length - 1} more</span>}
        </span>
      ),
  },
  timeColumn('received', 'Received', ({ received_at }) => received_at),
]
