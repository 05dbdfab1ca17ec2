import { Fragment } from 'react'
import { useSession } from '../../lib/session.ts'
import { PeriodSwitch, usePeriod } from '../../parts/period.tsx'
import { Button } from '../../ui/button.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { FailedState, Skeleton } from '../../ui/states.tsx'
import { Findings } from './findings.tsx'
import { useHealth, useHealthSeries, useTraffic } from './health.queries.ts'
import { HealthCharts, HealthChartsLoading } from './health-charts.tsx'
import { Queues } from './queues.tsx'
import { UnauthenticatedRequests } from './unauthenticated-requests.tsx'

export function HealthPage() {
  const { version } = useSession()
  const [period, setPeriod] = usePeriod('period')
  const health = useHealth()
  const traffic = useTraffic()
  const series = useHealthSeries(period)
  const refresh = () => void Promise.all([health.refetch(), traffic.refetch(), series.refetch()])
  return (
    <>
      <PageHeader
        title="Health"
        actions={
          <>
            <PeriodSwitch value={period} onChange={setPeriod} />
            <Button icon="retry" busy={health.isFetching} onClick={refresh}>
              Run checks
            </Button>
          </>
        }
      />
      <PageBody>
        {health.isPending ? (
          // What the checks found is above everything, so the rest waits for them.
          <Fragment key="loading">
            <Skeleton height={140} />
            <Queues traffic={undefined} error={null} onRetry={refresh} />
            <HealthChartsLoading />
          </Fragment>
        ) : (
          <>
            {health.data ? (
              <Findings report={health.data} version={version} />
            ) : (
              <FailedState what="The checks could not be run" error={health.error} onRetry={refresh} />
            )}
            <Queues traffic={traffic.data} error={traffic.error} onRetry={() => void traffic.refetch()} />
            {series.data ? (
              <HealthCharts health={series.data} />
            ) : series.error ? (
              <FailedState what="The charts could not be loaded" error={series.error} onRetry={refresh} />
            ) : (
              <HealthChartsLoading />
            )}
            {traffic.data && <UnauthenticatedRequests errors={traffic.data.refusals} />}
          </>
        )}
      </PageBody>
    </>
  )
}
