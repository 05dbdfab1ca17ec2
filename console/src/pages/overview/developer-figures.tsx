import type { Overview } from '@parley/contract/console/overview'
import { formatNumber } from '../../lib/format.ts'
import { attemptSeries, barsOf, latencyPoints, latencySeries, sum } from '../../parts/chart-steps.ts'
import { BarChart } from '../../ui/bar-chart.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import { Duration } from '../../ui/time.tsx'
import { changeOf, pointsOf } from './change.ts'
import { added, percentage, ratio } from './counts.ts'
import { FigureCard, Plot, plotHeight } from './figure-card.tsx'
import type { Scope } from './scope.ts'

const requestSeries: readonly Series[] = [
  { key: 'ok', title: 'OK', tone: 'accent' },
  { key: 'refused', title: '4xx', tone: 'warn' },
  { key: 'failed', title: '5xx', tone: 'bad' },
]

const statusOf: Record<string, string> = { ok: 'status=2xx&', refused: 'status=4xx&', failed: 'status=5xx&' }

type Requests = NonNullable<Overview['requests']>
const all = ({ ok, refused, failed }: Requests) => added(ok, refused, failed)
const errors = ({ refused, failed }: Requests) => added(refused, failed)

/** API requests, webhook attempts and their duration, for roles that see them. */
export function DeveloperFigures({ scope }: { scope: Scope }) {
  const { overview, past, steps, period, path, open, stepOf, span, compared } = scope
  const { requests, deliveries } = overview
  const pastAttempts = past?.deliveries ? ratio(past.deliveries.succeeded, past.deliveries.failed) : null
  return (
    <>
      {requests && (
        <FigureCard
          title="API requests"
          figures={[
            {
              label: 'Requests',
              value: formatNumber(sum(all(requests))),
              to: path(`requests?${period}`),
              change: compared(all(requests), past?.requests ? all(past.requests) : undefined),
            },
            {
              label: 'Errors',
              value: formatNumber(sum(errors(requests))),
              to: path(`requests?status=4xx,5xx&${period}`),
              change: compared(errors(requests), past?.requests ? errors(past.requests) : undefined),
              more: 'bad',
            },
          ]}
        >
          <Plot counts={requests} series={requestSeries} empty="No requests in this period">
            <BarChart
              label="API requests by result"
              bars={barsOf(steps, requests)}
              series={requestSeries}
              height={plotHeight}
              onOpen={(bar, result) => open(`requests?${statusOf[result ?? ''] ?? ''}${span(bar)}`)}
            />
          </Plot>
        </FigureCard>
      )}
      {deliveries && (
        <>
          <FigureCard
            title="Webhook attempts"
            figures={[
              {
                label: 'Succeeded',
                value: percentage(ratio(deliveries.succeeded, deliveries.failed)),
                to: path(`deliveries?since=${overview.from}&until=${overview.to}`),
                change: pointsOf(ratio(deliveries.succeeded, deliveries.failed), pastAttempts),
                more: 'good',
              },
              {
                label: 'Failed',
                value: formatNumber(sum(deliveries.failed)),
                to: path(`deliveries?state=failed&since=${overview.from}&until=${overview.to}`),
                change: compared(deliveries.failed, past?.deliveries?.failed),
                more: 'bad',
              },
            ]}
          >
            <Plot counts={deliveries} series={attemptSeries} empty="No attempts in this period">
              <BarChart
                label="Webhook attempts by result"
                bars={barsOf(steps, deliveries)}
                series={attemptSeries}
                height={plotHeight}
                onOpen={(bar, result) =>
                  open(
                    `deliveries?${result === 'failed' ? 'state=failed&' : ''}since=${stepOf(bar).from}&until=${stepOf(bar).to}`,
                  )
                }
              />
            </Plot>
          </FigureCard>
          <FigureCard
            title="Webhook response time"
            figures={(['p50', 'p95'] as const).map((share) => ({
              label: share,
              value: <Duration ms={deliveries.overall[`${share}_ms`]} />,
              to: path('webhooks'),
              change: changeOf(deliveries.overall[`${share}_ms`], past?.deliveries?.overall[`${share}_ms`] ?? null),
              more: 'bad',
            }))}
          >
            <Plot counts={deliveries} series={attemptSeries} empty="No attempts in this period">
              <LineChart
                label="Webhook response time"
                points={latencyPoints(steps, deliveries)}
                series={latencySeries}
                height={plotHeight}
              />
            </Plot>
          </FigureCard>
        </>
      )}
    </>
  )
}
