import type { Overview } from '@parley/contract/console/overview'
import { formatCredits, formatNumber, formatPercent, plural } from '../../lib/format.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { sum } from '../../parts/chart-steps.ts'
import { Stat, Stats } from '../../ui/figures.tsx'
import { Sparkline } from '../../ui/sparkline.tsx'
import { Duration } from '../../ui/time.tsx'

/** The key figures of the period. */
export function Figures({ overview }: { overview: Overview | undefined }) {
  const here = useHere()
  const mayDevelop = useCan('requests:read')
  const messages = overview && totals(overview.messages)
  const requests = overview?.requests && totals(overview.requests)
  const deliveries = overview?.deliveries
  const attempts = deliveries && { good: sum(deliveries.succeeded), bad: sum(deliveries.failed) }
  const requestCount = requests && requests.ok + requests.refused + requests.failed
  const credits = overview?.credits
  return (
    <Stats>
      <Stat
        label="Messages sent"
        to={here.path('messages')}
        value={messages && formatNumber(messages.all - messages.received)}
        detail={messages && `${formatNumber(messages.received)} received, ${formatNumber(messages.failed)} failed`}
        aside={overview && <Sparkline values={sentPerStep(overview)} label="Messages sent over the period" />}
      />
      {mayDevelop && (
        <>
          <Stat
            label="API requests"
            to={here.path('requests')}
            value={requests ? formatNumber(requestCount ?? 0) : undefined}
            detail={
              requests && `${plural(requests.refused, 'client error')}, ${plural(requests.failed, 'server error')}`
            }
          />
          <Stat
            label="Webhook success rate"
            to={here.path('deliveries')}
            value={attempts ? percentage(attempts.good, attempts.good + attempts.bad) : undefined}
            detail={attempts && plural(attempts.good + attempts.bad, 'attempt')}
          />
          <Stat
            label="Webhook response time (p95)"
            to={here.path('webhooks')}
            value={deliveries ? <Duration ms={deliveries.overall.p95_ms} /> : undefined}
            detail={
              deliveries &&
              (deliveries.overall.p95_ms === null ? (
                'No attempts'
              ) : (
                <>
                  p50 <Duration ms={deliveries.overall.p50_ms} />
                </>
              ))
            }
          />
          <Stat
            label="Credits"
            to={here.path('credits')}
            value={credits ? formatCredits(credits.balance) : undefined}
            detail={credits && `${formatCredits(credits.spent)} spent${credits.low ? ', running low' : ''}`}
          />
        </>
      )}
    </Stats>
  )
}

const percentage = (part: number, all: number): string => (all === 0 ? '–' : formatPercent(part / all))

function totals<Key extends string>(series: Readonly<Record<Key, readonly number[]>>): Record<Key | 'all', number> {
  const sums = Object.entries(series).map(([key, counts]) => [key, sum(counts as readonly number[])] as const)
  return { ...Object.fromEntries(sums), all: sum(sums.map(([, count]) => count)) } as Record<Key | 'all', number>
}

const sentPerStep = ({ messages, steps }: Overview): number[] =>
  steps.map((_step, index) =>
    sum(
      [messages.queued, messages.sent, messages.delivered, messages.read, messages.failed].map((of) => of[index] ?? 0),
    ),
  )
