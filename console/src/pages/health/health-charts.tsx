import type { HealthSeries } from '@parley/contract/console/operator'
import { stepsOf } from '../../parts/chart-steps.ts'
import type { Series } from '../../ui/chart-frame.tsx'
import { Card, Grid } from '../../ui/layout.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import { Skeleton } from '../../ui/states.tsx'
import styles from './health.module.css'

type Values = readonly (number | null)[]

interface Chart {
  title: string
  series: readonly Series[]
  unit: 'count' | 'bytes' | 'ms'
  /** Instead of the plot if nothing was measured. */
  empty?: string
  read(health: HealthSeries): Readonly<Record<string, Values>>
}

const charts: readonly Chart[] = [
  {
    title: 'Queues',
    unit: 'count',
    series: [
      { key: 'deliveries_waiting', title: 'Deliveries', tone: 'accent' },
      { key: 'deliveries_overdue', title: 'Overdue', tone: 'bad' },
      { key: 'messages_waiting', title: 'Messages', tone: 'note' },
    ],
    read: ({ queues }) => queues,
  },
  {
    title: 'Throughput',
    unit: 'count',
    series: [
      { key: 'events', title: 'Events in', tone: 'note' },
      { key: 'succeeded', title: 'Deliveries out', tone: 'good' },
      { key: 'failed', title: 'Failed', tone: 'bad' },
    ],
    read: ({ throughput }) => throughput,
  },
  {
    title: 'Database transactions',
    unit: 'ms',
    series: [{ key: 'transaction_ms', title: 'A short transaction', tone: 'accent' }],
    read: ({ database }) => database,
  },
  {
    title: 'Database connections',
    unit: 'count',
    series: [{ key: 'connections', title: 'Of all programs', tone: 'accent' }],
    read: ({ database }) => database,
  },
  {
    title: 'Database size',
    unit: 'bytes',
    series: [{ key: 'bytes', title: 'Used', tone: 'accent' }],
    read: ({ database }) => database,
  },
  {
    title: 'Disk',
    unit: 'bytes',
    series: [{ key: 'free', title: 'Free', tone: 'accent' }],
    empty: 'Not known: the database has its own server.',
    read: ({ disk_free_bytes }) => ({ free: disk_free_bytes }),
  },
]

const height = 130
const stepWords: Record<number, string> = { 1: 'hour', 6: '6 hours', 24: 'day' }

/** The installation over time. */
export function HealthCharts({ health }: { health: HealthSeries }) {
  const steps = stepsOf(health)
  return (
    <Grid min={296} gap={4}>
      {charts.map(({ title, series, unit, empty, read }) => {
        const values = read(health)
        const hasSome = series.some(({ key }) => values[key]?.some((value) => value !== null))
        return (
          <Card key={title} title={title} detail={detailOf(title, stepWords[health.step_hours] ?? 'step')}>
            <div className={styles.plot}>
              {hasSome ? (
                <LineChart
                  label={title}
                  unit={unit}
                  series={series}
                  height={height}
                  points={steps.map(({ key, label, title: name }, index) => ({
                    key,
                    label,
                    title: name,
                    values: Object.fromEntries(series.map((each) => [each.key, values[each.key]?.[index] ?? null])),
                  }))}
                />
              ) : (
                <p className="quiet">{empty ?? 'Nothing was measured in this period.'}</p>
              )}
            </div>
          </Card>
        )
      })}
    </Grid>
  )
}

const detailOf = (title: string, step: string): string =>
  title === 'Throughput' ? `In each ${step}.` : `The ${title === 'Disk' ? 'least' : 'most'} in each ${step}.`

/** As high as the charts. */
export const HealthChartsLoading = () => (
  <Grid min={296} gap={4}>
    {charts.map(({ title }) => (
      <Card key={title} title={title} detail="&nbsp;">
        <div className={styles.plot}>
          <Skeleton height={height + 30} />
        </div>
      </Card>
    ))}
  </Grid>
)
