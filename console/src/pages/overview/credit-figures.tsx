import type { CreditUsage } from '@parley/contract/console/credits'
import { formatCredits, formatShortUtcDay, formatUtcDay } from '../../lib/format.ts'
import { BarChart } from '../../ui/bar-chart.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import { Skeleton } from '../../ui/states.tsx'
import { changeOf } from './change.ts'
import { FigureCard, Plot, PlotLoading, plotHeight } from './figure-card.tsx'
import type { Scope } from './scope.ts'

const spentSeries: readonly Series[] = [{ key: 'spent', title: 'Spent per day (UTC)', tone: 'accent' }]

/** What was spent in the period and yesterday. A day opens its transactions. */
export function CreditFigures({
  scope: { overview, past, period, path, open },
  usage,
}: {
  scope: Scope
  usage: CreditUsage | undefined
}) {
  const { credits } = overview
  if (!credits) return null
  const days = usage?.days.map(({ day, spent, refunded }) => ({ day, spent: spent - Math.min(spent, refunded) })) ?? []
  const yesterday = days.at(-2)
  return (
    <FigureCard
      title="Credits"
      figures={[
        {
          label: 'Spent',
          value: formatCredits(credits.spent),
          to: path(`credits?${period}`),
          change: changeOf(credits.spent, past?.credits?.spent ?? null),
        },
        {
          label: 'Yesterday',
          value: yesterday ? formatCredits(yesterday.spent) : <Skeleton width={60} height={20} />,
          to: path(yesterday ? `credits?${dayOf(yesterday.day)}` : 'credits'),
          note: `${formatCredits(credits.balance)} left`,
        },
      ]}
    >
      {usage ? (
        <Plot counts={{ spent: days.map(({ spent }) => spent) }} series={spentSeries} empty="Nothing spent in 30 days">
          <BarChart
            label="Credits spent per day"
            bars={days.map(({ day, spent }) => ({
              key: day,
              label: formatShortUtcDay(day),
              title: formatUtcDay(day),
              values: { spent },
            }))}
            series={spentSeries}
            height={plotHeight}
            onOpen={(bar) => open(`credits?${dayOf(bar.key)}`)}
          />
        </Plot>
      ) : (
        <PlotLoading />
      )}
    </FigureCard>
  )
}

/** A day in UTC as a filter of the transactions. */
const dayOf = (day: string): string => {
  const from = new Date(day)
  return `from=${from.toISOString()}&to=${new Date(from.getTime() + 86_400_000).toISOString()}`
}
