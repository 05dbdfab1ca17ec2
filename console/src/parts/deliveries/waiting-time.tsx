import type { Delivery } from '@parley/contract/console/deliveries'
import { Countdown, TimeAgo } from '../../ui/time.tsx'

export const isOpen = ({ state }: Pick<Delivery, 'state'>): boolean => state !== 'delivered' && state !== 'failed'

/** When an open delivery is due, or since when it is held or queued. */
export function WaitingTime({ delivery }: { delivery: Delivery }) {
  const { state, created_at, next_attempt_at, held_since } = delivery
  return (
    <span className="small quiet">
      {held_since ? (
        <>
          held <TimeAgo at={held_since} />
        </>
      ) : next_attempt_at ? (
        <>
          due <Countdown at={next_attempt_at} />
        </>
      ) : state === 'retrying' ? (
        'in progress'
      ) : (
        <>
          queued <TimeAgo at={created_at} />
        </>
      )}
    </span>
  )
}
