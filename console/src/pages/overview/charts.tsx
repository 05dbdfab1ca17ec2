import type { Overview } from '@parley/contract/console/overview'
import { useNavigate } from '@tanstack/react-router'
import { useHere } from '../../lib/session.ts'
import { type Bar, BarChart } from '../../ui/bar-chart.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import { Card, Grid } from '../../ui/layout.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { type Step, stepsOf, sum } from './steps.ts'

const messageSeries: readonly Series[] = [
  { key: 'read', title: 'Read', tone: 'accent' },
  { key: 'delivered', title: 'Delivered', tone: 'good' },
  { key: 'sent', title: 'Sent', tone: 'note' },
  { key: 'queued', title: 'Queued', tone: 'calm' },
  { key: 'failed', title: 'Failed', tone: 'bad' },
]

const requestSeries: readonly Series[] = [
  { key: 'ok', title: 'OK', tone: 'accent' },
  { key: 'refused', title: 'Refused', tone: 'warn' },
  { key: 'failed', title: 'Failed', tone: 'bad' },
]

const deliverySeries: readonly Series[] = [
  { key: 'succeeded', title: 'Succeeded', tone: 'good' },
  { key: 'failed', title: 'Failed', tone: 'bad' },
]

const latencySeries: readonly Series[] = [
  { key: 'p50', title: 'Half within (p50)', tone: 'accent' },
  { key: 'p95', title: '95 of 100 within (p95)', tone: 'warn' },
]

/** What happened over the period. A press on a bar opens the list behind it. */
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
      <Card title="Messages" detail="By the status they have now, when they were sent.">
        <Filled series={messageSeries} of={messages} words="No message was sent in this period.">
          <BarChart
            label="Messages by status"
            bars={barsOf(steps, messages)}
            series={messageSeries}
            onOpen={(bar, status) => open(`messages?${status ? `status=${status}&` : ''}${span(bar)}`)}
          />
        </Filled>
      </Card>
      {requests && (
        <Card title="API requests" detail="As they were answered.">
          <Filled series={requestSeries} of={requests} words="No request was made in this period.">
            <BarChart
              label="API requests by outcome"
              bars={barsOf(steps, requests)}
              series={requestSeries}
              onOpen={(bar, outcome) => open(`requests?${statusOf[outcome ?? ''] ?? ''}${span(bar)}`)}
            />
          </Filled>
        </Card>
      )}
      {deliveries && (
        <>
          <Card title="Webhook attempts" detail="Whether the endpoints took what was delivered.">
            <Filled series={deliverySeries} of={deliveries} words="Nothing was delivered in this period.">
              <BarChart
                label="Webhook attempts by outcome"
                bars={barsOf(steps, deliveries)}
                series={deliverySeries}
                onOpen={(bar, outcome) =>
                  open(
                    `deliveries?${outcome === 'failed' ? 'state=failed&' : ''}since=${stepOf(bar).from}&until=${stepOf(bar).to}`,
                  )
                }
              />
            </Filled>
          </Card>
          <Card title="Webhook answer time" detail="How long the endpoints took to answer, nearly.">
            <Filled series={deliverySeries} of={deliveries} words="Nothing was delivered in this period.">
              <LineChart
                label="Webhook answer time"
                points={steps.map(({ key, label, title }, index) => ({
                  key,
                  label,
                  title,
                  values: { p50: deliveries.p50_ms[index] ?? null, p95: deliveries.p95_ms[index] ?? null },
                }))}
                series={latencySeries}
              />
            </Filled>
          </Card>
        </>
      )}
    </Grid>
  )
}

const statusOf: Record<string, string> = { ok: 'status=2xx&', refused: 'status=4xx&', failed: 'status=5xx&' }

type Counts = Readonly<Record<string, unknown>>

function barsOf(steps: readonly Step[], counts: Counts): Bar[] {
  const series = Object.entries(counts).filter((entry): entry is [string, number[]] => Array.isArray(entry[1]))
  return steps.map(({ key, label, title }, index) => ({
    key,
    label,
    title,
    values: Object.fromEntries(series.map(([name, values]) => [name, values[index] ?? 0])),
  }))
}

/** The chart, or a calm word where it would be empty. */
function Filled({
  series,
  of,
  words,
  children,
}: {
  series: readonly Series[]
  of: Counts
  words: string
  children: React.ReactNode
}) {
  const total = sum(series.map(({ key }) => sum((of[key] as number[] | undefined) ?? [])))
  if (total > 0) return children
  return (
    <p className="quiet" style={{ display: 'grid', placeItems: 'center', height: 120, margin: 0 }}>
      {words}
    </p>
  )
}

/** Where charts are about to be. */
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
