import type { DeliveryBars as Bars } from '@parley/contract/console/deliveries'
import { useData } from '../../lib/query.ts'
import { useHere } from '../../lib/session.ts'
import { timeZone } from '../../lib/time-zone.ts'
import type { Series } from '../../ui/chart-frame.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { barsOf, ListBars } from '../list-bars.tsx'
import styles from './deliveries.module.css'

const series: readonly Series[] = [
  { key: 'delivered', title: 'Delivered', tone: 'good' },
  { key: 'retried', title: 'Retried', tone: 'warn' },
  { key: 'failed', title: 'Failed', tone: 'bad' },
]

const results = { delivered: { state: 'delivered' }, retried: { state: 'waiting' }, failed: { state: 'failed' } }

/** The attempts by result over time, whatever the tab. Of one webhook, with its response times. */
export function DeliveryBars({ query }: { query: Readonly<Record<string, string>> }) {
  const { webhook, since, until } = query
  const of = { ...(webhook && { webhook }), ...(since && { since }), ...(until && { until }) }
  const bars = (
    <ListBars
      label="Attempts by result"
      path="deliveries"
      query={of}
      topics={['deliveries']}
      noun="attempts"
      series={series}
      results={results}
      names={['since', 'until']}
    />
  )
  if (!webhook || webhook.includes(',')) return bars
  return (
    <div className={styles.charts}>
      {bars}
      <ResponseTimes query={of} />
    </div>
  )
}

const height = 84

const times: readonly Series[] = [
  { key: 'p50', title: 'Response time (p50)', tone: 'accent' },
  { key: 'p95', title: 'p95', tone: 'warn' },
]

/** From the same request as the bars. */
function ResponseTimes({ query }: { query: Readonly<Record<string, string>> }) {
  const { data } = useData<Bars>(useHere().api('deliveries/bars'), {
    query: { ...query, zone: timeZone() },
    placeholderData: (before) => before,
  })
  const points = data
    ? barsOf(data).map(({ from, label }, index) => ({
        key: from,
        label,
        values: { p50: data.p50_ms[index] ?? null, p95: data.p95_ms[index] ?? null },
      }))
    : []
  return (
    <div className={styles.times}>
      {data ? (
        <LineChart label="Response time" points={points} series={times} height={height} />
      ) : (
        <Skeleton height={height} />
      )}
    </div>
  )
}
