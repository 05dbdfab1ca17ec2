import type { Period } from '@parley/contract/console/overview'
import { useState } from 'react'
import { useHere } from '../../lib/session.ts'
import { PeriodSwitch, usePeriod } from '../../parts/period.tsx'
import { useProblems } from '../../parts/problems.queries.ts'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { FailedState } from '../../ui/states.tsx'
import { Attention } from './attention.tsx'
import { Figures, FiguresLoading } from './figures.tsx'
import { OnboardingList } from './onboarding.tsx'
import { useCreditDays, useOnboarding, useOverview, useOverviewBefore } from './overview.queries.ts'

export function OverviewPage() {
  const [period, setPeriod] = usePeriod('period')
  const { id } = useHere()
  // What is above the figures decides where they are, so everything appears at once.
  const [problems, onboarding, overview] = [useProblems(), useOnboarding(), useOverview(period)]
  const isLoading = [problems, onboarding, overview].some(({ isPending }) => isPending)
  return (
    <>
      <PageHeader title="Overview" actions={<PeriodSwitch value={period} onChange={setPeriod} />} />
      <PageBody>
        {isLoading ? (
          <FiguresLoading />
        ) : (
          <Contents key={id} period={period} wasNew={onboarding.data?.is_new ?? false} />
        )}
      </PageBody>
    </>
  )
}

/** A new workspace has its first steps at the top, even while its first messages arrive. */
function Contents({ period, wasNew }: { period: Period; wasNew: boolean }) {
  const [isNew] = useState(wasNew)
  const { data, error, refetch, dataUpdatedAt } = useOverview(period)
  const before = useOverviewBefore(period).data
  const usage = useCreditDays().data
  return (
    <>
      {isNew && <OnboardingList isNew />}
      <Attention />
      {error && !data ? (
        <FailedState what="The overview could not be loaded" error={error} onRetry={() => void refetch()} />
      ) : (
        data && <Figures overview={data} before={before} usage={usage} readAt={dataUpdatedAt} />
      )}
      {!isNew && <OnboardingList isNew={false} />}
    </>
  )
}
