import type { Delivery } from '@parley/contract/console/deliveries'
import { Countdown, TimeAgo } from '../../ui/time.tsx'

/** When an open delivery is due, or since when it waits. Nothing if it is finished. */
export function WaitingTime({
  delivery: { state, created_at, next_attempt_at, held_since },
}: {
  delivery: Pick<Delivery, 'state' | 'created_at' | 'next_attempt_at' | 'held_since'>
}) {
  if (state === 'delivered' || state === 'failed') return null
  return (
    <span className="small quiet">
      {held_since ? (
        <TimeAgo at={held_since} />
      ) : next_attempt_at ? (
        <>
          next <Countdown at={next_attempt_at} />
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
