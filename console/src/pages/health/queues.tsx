import { formatDuration, formatNumber } from '../../lib/format.ts'
import { Stat, Stats } from '../../ui/figures.tsx'
import { FailedState } from '../../ui/states.tsx'
import type { TrafficReport } from './health.queries.ts'

/** What waits, over all workspaces. */
export function Queues({
  traffic,
  error,
  onRetry,
}: {
  traffic: TrafficReport | undefined
  error: unknown
  onRetry: () => void
}) {
  if (error && !traffic) return <FailedState what="The queues could not be counted" error={error} onRetry={onRetry} />
  const { outbox, deliveries } = traffic ?? {}
  const count = (number: number | undefined) => (number === undefined ? undefined : formatNumber(number))
  return (
    <Stats>
      <Stat label="Messages to send" value={count(outbox?.waiting)} detail={late(outbox?.oldest_overdue_ms)} />
      <Stat label="Being sent" value={count(outbox?.sending)} detail="With the network now" />
      <Stat label="Outcome unknown" value={count(outbox?.unknown)} detail="Never sent twice" />
      <Stat label="Deliveries waiting" value={count(deliveries?.waiting)} detail="Due now or for a later try" />
      <Stat
        label="Deliveries overdue"
        value={count(deliveries?.overdue)}
        detail={late(deliveries?.oldest_overdue_ms)}
      />
      <Stat label="Deliveries held" value={count(deliveries?.held)} detail="Their webhook is disabled" />
    </Stats>
  )
}

const late = (ms: number | undefined) => (ms ? `The oldest is ${formatDuration(ms)} late` : 'None is late')
