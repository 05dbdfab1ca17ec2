import { formatNumber } from '../../lib/format.ts'
import { numberColumn, timeColumn } from '../../ui/columns.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import styles from './health.module.css'
import type { TrafficReport } from './health.queries.ts'

type Requests = TrafficReport['refusals'][number]

/** Requests without a known API key that match no workspace, so only the operator sees them. */
export function UnauthenticatedRequests({ errors }: { errors: TrafficReport['refusals'] }) {
  return (
    <section className={styles.requests}>
      <div>
        <h2 className={styles.title}>Unauthenticated requests</h2>
        <p className="quiet">
          Requests in the last 24 hours with a missing or unknown API key. A request whose key resembles a workspace’s
          key is listed in the API errors of that workspace instead. All are counted, IPv6 addresses by /64; the request
          log contains only the first of each address, error and minute. Beyond 250 addresses in a minute, only the
          total is counted.
        </p>
      </div>
      <DataTable
        label="Unauthenticated requests"
        list={{ rows: errors, error: null, isLoading: false, retry: () => undefined }}
        rowKey={({ code }) => code}
        columns={[
          {
            key: 'code',
            title: 'Error',
            cell: ({ code, title, remedy }) => (
              <span className={styles.error}>
                <span>
                  {title} <Chip mono>{code}</Chip>
                </span>
                <span className="quiet small">{remedy}</span>
              </span>
            ),
          },
          {
            key: 'addresses',
            title: 'IP addresses',
            width: 260,
            cell: ({ addresses, address_count }) => (
              <span className="mono small">
                {addresses.slice(0, 3).join(', ') || '–'}
                {address_count > 3 && <span className="quiet"> and {formatNumber(address_count - 3)} more</span>}
              </span>
            ),
          },
          numberColumn('count', 'Count', ({ count }: Requests) => formatNumber(count), { width: 90 }),
          timeColumn('last', 'Last seen', ({ last_at }: Requests) => last_at),
        ]}
        empty={
          <EmptyState icon="apiError" title="No unauthenticated requests">
            Every request in the last 24 hours had a known API key.
          </EmptyState>
        }
      />
    </section>
  )
}
