import { formatNumber } from '../../lib/format.ts'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './health.module.css'
import type { TrafficReport } from './health.queries.ts'

/** Calls that belong to no workspace, since their key is missing or known to nobody: a stranger, or a forgotten machine. */
export function ApiErrorGroups({ refusals }: { refusals: TrafficReport['refusals'] }) {
  return (
    <section className={styles.refusals}>
      <div>
        <h2 className={styles.title}>Calls without a workspace</h2>
        <p className="quiet">
          Refused in the last 24 hours because nobody knows whose they are. No workspace sees these in its own log.
        </p>
      </div>
      <DataTable
        label="Calls without a workspace"
        list={{ rows: refusals, error: null, isLoading: false, retry: () => undefined }}
        rowKey={({ code }) => code}
        columns={[
          {
            key: 'code',
            title: 'Refusal',
            cell: ({ code, title, remedy }) => (
              <span className={styles.refusal}>
                <span>
                  {title} <Chip mono>{code}</Chip>
                </span>
                <span className="quiet small">{remedy}</span>
              </span>
            ),
          },
          {
            key: 'addresses',
            title: 'Addresses',
            width: 260,
            cell: ({ addresses, address_count }) => (
              <span className="mono small">
                {addresses.slice(0, 3).join(', ') || '–'}
                {address_count > 3 && <span className="quiet"> and {formatNumber(address_count - 3)} more</span>}
              </span>
            ),
          },
          {
            key: 'count',
            title: 'Times',
            width: 90,
            align: 'right',
            cell: ({ count }) => <span className="numbers">{formatNumber(count)}</span>,
          },
          { key: 'last', title: 'Last', width: 120, align: 'right', cell: ({ last_at }) => <TimeAgo at={last_at} /> },
        ]}
        empty={
          <EmptyState icon="apiError" title="None in the last 24 hours">
            Every call came with a key that belongs to a workspace.
          </EmptyState>
        }
      />
    </section>
  )
}
