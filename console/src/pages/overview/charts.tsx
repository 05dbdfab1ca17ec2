import type { Overview } from '@parley/contract/console/overview'
import { useNavigate } from '@tanstack/react-router'
import { useHere } from '../../lib/session.ts'
import {
  attemptSeries,
  barsOf,
  latencyPoints,
  latencySeries,
  type Step,
  stepsOf,
  sum,
} from '../../parts/chart-steps.ts'
import { type Bar, BarChart } from '../../ui/bar-chart.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import { Card, Grid } from '../../ui/layout.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import { Skeleton } from '../../ui/states.tsx'

const messageSeries: readonly Series[] = [
  { key: 'read', title: 'Read', tone: 'accent' },
  { key: 'delivered', title: 'Delivered', tone: 'good' },
  { key: 'sent', title: 'Sent', tone: 'note' },
  { key: 'queued', title: 'Queued', tone: 'calm' },
  { key: 'failed', title: 'Failed', tone: 'bad' },
]

const requestSeries: readonly Series[] = [
  { key: 'ok', title: 'Successful', tone: 'accent' },
  { key: 'refused', title: 'Client errors', tone: 'warn' },
  { key: 'failed', title: 'Server errors', tone: 'bad' },
]

/** The charts of the period. Clicking a bar opens the filtered list. */
export function Charts({ overview }: { overview: Overview }) {
  const here = useHere()
  const navigate = useNavigate()
  const steps = stepsOf(overview)
  const { messages, requests, deliveries } = overview
  const open = (path: string) => void navigate({ href: here.path(path) })
  const stepOf = (bar: Bar) => steps.find(({ key }) => key === bar.key) as Step
  const span = (bar: Bar) => `from=${stepOf(bar).from}&to=${stepOf(bar).to}`
  return (
    <Grid min={460} gap={4}>
      <Card title="Messages" detail="By current status and time of sending.">
        <ChartOrEmpty series={messageSeries} counts={messages} empty="No messages in this period">
          <BarChart
            label="Messages by status"
            bars={barsOf(steps, messages)}
            series={messageSeries}
            onOpen={(bar, status) => open(`messages?${status ? `status=${status}&` : ''}${span(bar)}`)}
          />
        </ChartOrEmpty>
      </Card>
      {requests && (
        <Card title="API requests" detail="By response status.">
          <ChartOrEmpty series={requestSeries} counts={requests} empty="No requests in this period">
            <BarChart
              label="API requests by result"
              bars={barsOf(steps, requests)}
              series={requestSeries}
              onOpen={(bar, result) => open(`requests?${statusOf[result ?? ''] ?? ''}${span(bar)}`)}
            />
          </ChartOrEmpty>
        </Card>
      )}
      {deliveries && (
        <>
          <Card title="Webhook attempts" detail="By result.">
            <ChartOrEmpty series={attemptSeries} counts={deliveries} empty="No attempts in this period">
              <BarChart
                label="Webhook attempts by result"
                bars={barsOf(steps, deliveries)}
                series={attemptSeries}
                onOpen={(bar, result) =>
                  open(
                    `deliveries?${result === 'failed' ? 'state=failed&' : ''}since=${stepOf(bar).from}&until=${stepOf(bar).to}`,
                  )
                }
              />
            </ChartOrEmpty>
          </Card>
          <Card title="Webhook response time" detail="Approximate time until your endpoints responded.">
            <ChartOrEmpty series={attemptSeries} counts={deliveries} empty="No attempts in this period">
              <LineChart
                label="Webhook response time"
                points={latencyPoints(steps, deliveries)}
                series={latencySeries}
              />
            </ChartOrEmpty>
          </Card>
        </>
      )}
    </Grid>
  )
}

const statusOf: Record<string, string> = { ok: 'status=2xx&', refused: 'status=4xx&', failed: 'status=5xx&' }

type Counts = Readonly<Record<string, unknown>>

/** The chart, or a placeholder if there is no data. */
function ChartOrEmpty({
  series,
  counts,
  empty,
  children,
}: {
  series: readonly Series[]
  counts: Counts
  empty: string
  children: React.ReactNode
}) {
  const total = sum(series.map(({ key }) => sum((counts[key] as number[] | undefined) ?? [])))
  if (total > 0) return children
  return (
    <p className="quiet" style={{ display: 'grid', placeItems: 'center', height: 120, margin: 0 }}>
      {empty}
    </p>
  )
}

/** Placeholders while the charts load. */
export function ChartsLoading() {
  return (
    <Grid min={460} gap={4}>
      {['Messages', 'API requests'].map((title) => (
        <Card key={title} title={title}>
          <Skeleton height={230} />
        </Card>
      ))}
    </Grid>
  )
}
