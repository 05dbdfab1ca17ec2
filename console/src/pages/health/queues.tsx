import { formatDuration, formatNumber } from '../../lib/format.ts'
import { Stat, Stats } from '../../ui/figures.tsx'
import { FailedState } from '../../ui/states.tsx'
import type { TrafficReport } from './health.queries.ts'

/** Queue sizes over all workspaces. */
export function Queues({
  traffic,
  error,
  onRetry,
}: {
  traffic: TrafficReport | undefined
  error: unknown
  onRetry: () => void
}) {
  if (error && !traffic) return <FailedState what="The queues could not be loaded" error={error} onRetry={onRetry} />
  const { outbox, deliveries } = traffic ?? {}
  const count = (number: number | undefined) => (number === undefined ? undefined : formatNumber(number))
  return (
    <Stats>
      <Stat label="Messages queued" value={count(outbox?.waiting)} detail={late(outbox?.oldest_overdue_ms)} />
      <Stat label="Messages sending" value={count(outbox?.sending)} detail="Request in progress" />
      <Stat label="Outcome unknown" value={count(outbox?.unknown)} detail="Not retried, to avoid duplicates" />
      <Stat label="Deliveries queued" value={count(deliveries?.waiting)} detail="Due now or waiting for a retry" />
      <Stat
        label="Deliveries overdue"
        value={count(deliveries?.overdue)}
        detail={late(deliveries?.oldest_overdue_ms)}
      />
      <Stat label="Deliveries held" value={count(deliveries?.held)} detail="Their webhook is disabled" />
    </Stats>
  )
}

const late = (ms: number | undefined) => (ms ? `Oldest is ${formatDuration(ms)} overdue` : 'None overdue')
