import type { Database } from '../../../../db/db.ts'
import type { Loop } from '../../../../db/loop.ts'
import { subscribe } from '../../../../db/topic.ts'
import type { Clock } from '../../../../lib/clock.ts'
import { newUuid } from '../../../../lib/ids.ts'
import type { Logger } from '../../../../telemetry/logger.ts'
import { releaseLeases } from '../claim/claim.sql.ts'
import {
  type Conversation,
  type FirstAttempts,
  firstAttempts,
  type HandedDelivery,
  type Lease,
  type LeasedDelivery,
  leaseMs,
} from '../first-attempts.ts'
import { newStarter } from '../order.ts'
import type { OtherWorkers } from './other-workers.ts'

interface HandOverDeps {
  db: Database
  clock: Clock
  log: Logger
  otherWorkers: OtherWorkers
}

/**
 * Makes other processes attempt the deliveries that this one publishes. They are written with a lease, as with a worker in
 * this process, and their keys are sent to one of the live workers. So they need no claim, and no two workers look for them.
 */
export function startHandOver({ db, clock, log, otherWorkers }: HandOverDeps): Pick<Loop, 'stop'> {
  /** No worker was notified of these, so they can be claimed immediately. */
  const release = (items: readonly HandedDelivery[]) => {
    const unattempted = { attempts: 0, trigger: 'first', hasTurn: false } as const
    const rows = items.map((item) => ({ ...item, ...unattempted }))
    // If the database is unreachable, the leases expire.
    void releaseLeases(db, rows, clock.now()).catch(() => {})
  }
  const handOver: FirstAttempts = {
    newLease(now: Date): Lease | null {
      const [first, ...others] = otherWorkers.live()
      if (!first) return null
      const except = first.full.filter((id) => others.every(({ full }) => full.includes(id)))
      return { token: newUuid(), until: new Date(now.getTime() + leaseMs), except }
    },
    take: (items: readonly LeasedDelivery[]) => otherWorkers.handOver(items, release),
    startNext(conversations: readonly Conversation[]) {
      // If it fails, a worker finds them when it claims.
      for (const each of conversations) void startNext(each).catch(() => {})
    },
  }
  const startNext = newStarter({ db, clock, log, worker: handOver })
  const unsubscribe = subscribe(db, firstAttempts, handOver)
  return { stop: async () => unsubscribe() }
}
