import { PeriodSwitch, usePeriod } from '../../parts/period.tsx'
import { PageBody, Stack } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { FailedState } from '../../ui/states.tsx'
import { Charts, ChartsLoading } from './charts.tsx'
import { Figures } from './figures.tsx'
import { OnboardingList } from './onboarding.tsx'
import { OpenProblems } from './open-problems.tsx'
import { useOverview } from './overview.queries.ts'

export function OverviewPage() {
  const [period, setPeriod] = usePeriod('period')
  const { data, error, refetch } = useOverview(period)
  return (
    <>
      <PageHeader title="Overview" actions={<PeriodSwitch value={period} onChange={setPeriod} />} />
      <PageBody>
        <Stack gap={5}>
          <OnboardingList />
          <OpenProblems />
          {error && !data ? (
            <FailedState what="The overview could not be loaded" error={error} onRetry={() => void refetch()} />
          ) : (
            <>
              <Figures overview={data} />
              {data ? <Charts overview={data} /> : <ChartsLoading />}
            </>
          )}
        </Stack>
      </PageBody>
    </>
  )
}
