import type { Period } from '@parley/contract/console/overview'
import { useChoice } from '../../lib/url.ts'
import { SegmentedControl } from '../../ui/fields.tsx'
import { PageBody, Stack } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { FailedState } from '../../ui/states.tsx'
import { Charts, ChartsLoading } from './charts.tsx'
import { Figures } from './figures.tsx'
import { OnboardingList } from './onboarding.tsx'
import { useOverview } from './overview.queries.ts'
import { OpenProblems } from './problems.tsx'

const periods = ['24h', '7d', '30d'] as const satisfies readonly Period[]
const periodWords = { '24h': '24 hours', '7d': '7 days', '30d': '30 days' } as const

export function OverviewPage() {
  const [period, setPeriod] = useChoice('period', periods)
  const { data, error, refetch } = useOverview(period)
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          <SegmentedControl
            aria-label="Period"
            value={period}
            onChange={(value) => setPeriod(value as typeof period)}
            data={periods.map((value) => ({ value, label: periodWords[value] }))}
          />
        }
      />
      <PageBody>
        <Stack gap={5}>
          <OnboardingList />
          <OpenProblems />
          {error && !data ? (
            <FailedState what="The figures could not be loaded" error={error} onRetry={() => void refetch()} />
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
