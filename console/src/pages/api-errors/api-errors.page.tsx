import type { ApiErrorGroup } from '@parley/contract/console/api-errors'
import { errorCodes } from '@parley/contract/errors'
import { formatNumber, plural } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { useFilters, useSearchParam, useSearchParams } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { ListBars } from '../../parts/list-bars.tsx'
import { PeriodSwitch, periodLabels, usePeriod } from '../../parts/period.tsx'
import { ButtonLink } from '../../ui/button.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import { numberColumn, timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { PageBody, Stack } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Sparkline } from '../../ui/sparkline.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { ApiErrorDrawer } from './api-error-drawer.tsx'
import styles from './api-errors.module.css'
import { useApiErrors } from './api-errors.queries.ts'

export function ApiErrorsPage() {
  const here = useHere()
  const [since] = usePeriod('since')
  const [, change] = useSearchParams()
  const filters = useFilters('code', 'status')
  const times = useFilters('from', 'to')
  const hasTimes = Object.keys(times).length > 0
  const range = hasTimes ? times : { since }
  const query = { ...range, ...filters }
  const [open, setOpen] = useSearchParam('open', { push: true })
  const { data, error, isPending, isFetching, refetch } = useApiErrors(query)
  const groups = data?.data.filter(({ muted }) => muted === null)
  const muted = data?.data.filter(({ muted }) => muted !== null) ?? []
  const list = (rows: ApiErrorGroup[] | undefined) => ({
    rows,
    error,
    isLoading: isPending,
    isRefreshing: isFetching,
    retry: () => void refetch(),
  })
  const table = { rowKey: (group: ApiErrorGroup) => group.code, onOpen: (group: ApiErrorGroup) => setOpen(group.code) }
  return (
    <>
      <PageHeader
        title="API errors"
        detail="Failed API requests grouped by error code, with the cause and the fix."
        actions={
          <PeriodSwitch
            value={hasTimes ? null : since}
            onChange={(period) => change({ since: period === '24h' ? null : period, from: null, to: null })}
          />
        }
      />
      <PageBody>
        <Stack gap={4}>
          <ListBar
            query={query}
            noun={['error code']}
            total={{ rows: data?.data.length }}
            file="refusals.csv"
            saveAs="api-errors.csv"
            filters={[
              { kind: 'select', name: 'code', title: 'Error', options: optionsOfCodes },
              {
                kind: 'select',
                name: 'status',
                title: 'Status',
                options: [
                  { value: '4xx', title: '4xx: client error' },
                  { value: '5xx', title: '5xx: server error' },
                  ...['400', '401', '403', '404', '429', '500'].map((status) => ({ value: status, title: status })),
                ],
              },
              { kind: 'dates', title: 'Time' },
            ]}
          />
          <ListBars
            label="API errors by code"
            path="refusals"
            query={query}
            topics={['requests']}
            noun="API errors"
            series={seriesOf}
            results={results}
            span={periodLabels[since]}
          />
          <DataTable
            {...table}
            label="API errors"
            list={list(groups)}
            openKey={open}
            columns={columns}
            empty={
              hasTimes || Object.keys(filters).length > 0 ? (
                <EmptyState icon="search" title="No matching API errors">
                  Remove a filter or choose a longer period.
                </EmptyState>
              ) : (
                <EmptyState
                  icon="checkCircle"
                  title={`No API errors in the last ${periodLabels[since]}`}
                  action={
                    <ButtonLink to={here.path('requests')} icon="request">
                      View all requests
                    </ButtonLink>
                  }
                >
                  {muted.length > 0
                    ? `Except for ${plural(muted.length, 'muted error code')}, every request succeeded.`
                    : 'Failed requests appear here within a second, with the cause and the fix.'}
                </EmptyState>
              )
            }
          />
          {muted.length > 0 && (
            <details className={styles.folded}>
              <summary>{plural(muted.length, 'muted error code')}, still counted</summary>
              <div>
                <DataTable {...table} label="Muted errors" list={list(muted)} openKey={open} columns={columns} />
              </div>
            </details>
          )}
          {data && (
            <p className="quiet small">
              A request with an invalid API key appears here if the first and last four characters match one of your
              keys: up to 60 per minute. The operator of this installation sees all others on the Health page, under
              Unauthenticated requests.
            </p>
          )}
        </Stack>
      </PageBody>
      <ApiErrorDrawer code={open} range={range} onClose={() => setOpen(null)} />
    </>
  )
}

const tones = ['bad', 'warn', 'note', 'accent'] as const

/** The service sends the most frequent codes, most frequent first, and the others together. */
const seriesOf = (counts: Readonly<Record<string, unknown>>): Series[] =>
  Object.keys(counts).map((code, place) => ({
    key: code,
    title: code === 'other' ? 'Other' : code,
    tone: tones[place] ?? 'calm',
  }))

const results = Object.fromEntries(errorCodes.map((code) => [code, { code }]))

const optionsOfCodes = [...errorCodes].sort().map((code) => ({ value: code, title: code }))

/** to (12), template.id (3) and 2 more */
function fieldsText(fields: ApiErrorGroup['fields']): string {
  const shown = fields.slice(0, 3).map(({ field, count }) => `${field} (${formatNumber(count)})`)
  return `${shown.join(', ')}${fields.length > shown.length ? ` and ${fields.length - shown.length} more` : ''}`
}

const columns: readonly Column<ApiErrorGroup>[] = [
  {
    key: 'error',
    title: 'Error',
    cell: ({ code, title, fields }) => (
      <span className="lines">
        <strong className="clip">{title}</strong>
        <span className="small quiet clip">
          <span className="mono">{code}</span>
          {fields.length > 0 && ` · ${fieldsText(fields)}`}
        </span>
      </span>
    ),
  },
  {
    key: 'trend',
    title: 'Trend',
    width: 120,
    cell: ({ trend, count }) => (
      <Sparkline values={trend} tone="bad" label={`${formatNumber(count)} over the period`} />
    ),
  },
  numberColumn('count', 'Count', ({ count }) => formatNumber(count), { width: 90 }),
  {
    key: 'keys',
    title: 'Keys',
    width: 190,
    hideOn: 'tablet',
    cell: ({ keys, key_count }) =>
      key_count === 0 ? (
        <span className="quiet">No valid key</span>
      ) : (
        <SafeText className="clip">
          {`${keys[0]?.name ?? 'Unknown key'}${key_count > 1 ? ` and ${key_count - 1} more` : ''}`}
        </SafeText>
      ),
  },
  {
    key: 'addresses',
    title: 'IP address',
    width: 170,
    hideOn: 'tablet',
    cell: ({ addresses, address_count }) => (
      <span className="mono small clip">
        {address_count === 0 ? '–' : `${addresses[0]}${address_count > 1 ? ` +${address_count - 1}` : ''}`}
      </span>
    ),
  },
  timeColumn('first', 'First seen', ({ first_at }) => first_at, { width: 110, hideOn: 'tablet' }),
  timeColumn('last', 'Last seen', ({ last_at }) => last_at, { width: 110 }),
]
