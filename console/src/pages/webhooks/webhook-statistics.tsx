import type { ConsoleWebhook, WebhookStatistics as Statistics } from '@parley/contract/console/webhooks'
import { formatNumber, formatPercent, plural } from '../../lib/format.ts'
import { useSearchParams } from '../../lib/url.ts'
import {
  attemptSeries,
  barsOf,
  latencyPoints,
  latencySeries,
  type Step,
  stepsOf,
  sum,
} from '../../parts/chart-steps.ts'
import { PeriodSwitch, periodLabels, usePeriod } from '../../parts/period.tsx'
import { BarChart } from '../../ui/bar-chart.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import { Stat, Stats } from '../../ui/figures.tsx'
import { Card, Grid, Row } from '../../ui/layout.tsx'
import { LineChart } from '../../ui/line-chart.tsx'
import { EmptyState, Loaded } from '../../ui/states.tsx'
import { Duration } from '../../ui/time.tsx'
import { useWebhookStatistics } from './webhooks.queries.ts'

const successSeries: readonly Series[] = [{ key: 'rate', title: 'Success rate', tone: 'good' }]

/** The attempts of a period: how many, how many succeeded, and how long they took. */
export function WebhookStatistics({ webhook }: { webhook: ConsoleWebhook }) {
  const [period, setPeriod] = usePeriod('period')
  const query = useWebhookStatistics(webhook.id, period)
  return (
    <>
      <Row justify="flex-end">
        <PeriodSwitch value={period} onChange={setPeriod} />
      </Row>
      <Loaded query={query} what="The statistics">
        {(statistics) => <Charts statistics={statistics} />}
      </Loaded>
    </>
  )
}

function Charts({ statistics }: { statistics: Statistics }) {
  const [, change] = useSearchParams()
  const { attempts, period } = statistics
  const steps = stepsOf(statistics)
  const [succeeded, failed] = [sum(attempts.succeeded), sum(attempts.failed)]
  if (succeeded + failed === 0) {
    return (
      <EmptyState icon="chart" title={`No attempts in the last ${periodLabels[period]}`}>
        Choose a longer period, or send a test event to see the first attempt.
      </EmptyState>
    )
  }
  const open = ({ from, to }: Step, state: string | null) =>
    change({ tab: null, period: null, since: from, until: to, state }, { push: true })
  return (
    <>
      <Stats>
        <Stat
          label="Success rate"
          value={formatPercent(succeeded / (succeeded + failed))}
          detail={plural(succeeded + failed, 'attempt')}
        />
        <Stat label="Failed attempts" value={formatNumber(failed)} detail="Retries included" />
        <Stat label="Response time (p50)" value={<Duration ms={attempts.overall.p50_ms} />} detail="Approximate" />
        <Stat label="Response time (p95)" value={<Duration ms={attempts.overall.p95_ms} />} detail="Approximate" />
      </Stats>
      <Grid min={320} gap={4}>
        <Card title="Attempts" detail="By result. Open a bar to see its deliveries.">
          <BarChart
            label="Attempts by result"
            bars={barsOf(steps, attempts)}
            series={attemptSeries}
            onOpen={(bar, result) => {
              const step = steps.find(({ key }) => key === bar.key)
              if (step) open(step, result === 'failed' ? 'failed' : null)
            }}
          />
        </Card>
        <Card title="Success rate" detail="Of all attempts, retries included.">
          <LineChart label="Success rate" points={ratePoints(steps, attempts)} series={successSeries} unit="ratio" />
        </Card>
        <Card title="Response time" detail="Approximate time until your endpoint responded.">
          <LineChart label="Response time" points={latencyPoints(steps, attempts)} series={latencySeries} />
        </Card>
      </Grid>
    </>
  )
}

/** Null where there were no attempts. */
const ratePoints = (steps: readonly Step[], { succeeded, failed }: Statistics['attempts']) =>
  steps.map(({ key, label, title }, index) => {
    const [good = 0, bad = 0] = [succeeded[index], failed[index]]
    return { key, label, title, values: { rate: good + bad === 0 ? null : good / (good + bad) } }
  })
