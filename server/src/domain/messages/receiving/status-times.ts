import type { NetworkStatus } from '../../../whatsapp/incoming/status-rank.ts'

/** The times of the statuses that a message has so far. */
export type StatusTimes = Readonly<Record<NetworkStatus, Date | null>>

/** Of a message without a status. */
export const noTimes: StatusTimes = { sent: null, delivered: null, read: null, failed: null }

/** The network counts whole seconds. These milliseconds make statuses of the same second sort in their order. */
const offsetMs: Readonly<Record<NetworkStatus, number>> = { sent: 1, delivered: 2, read: 3, failed: 3 }

const follows: Readonly<Record<NetworkStatus, readonly NetworkStatus[]>> = {
  sent: [],
  delivered: ['sent'],
  read: ['sent', 'delivered'],
  failed: ['sent'],
}

/**
 * When a status occurred: the network's time, or the time the message was created if that is later, plus the offset of the
 * status. The network's clock and ours may differ, so the time is moved if it would contradict a status that we know.
 */
export function statusTime(status: NetworkStatus, networkTime: Date, createdAt: Date, known: StatusTimes): Date {
  const basesOf = (statuses: readonly NetworkStatus[]): number[] =>
    statuses.flatMap((each) => (known[each] ? [known[each].getTime() - offsetMs[each]] : []))
  const followers = statusNames.filter((each) => follows[each].includes(status))
  const notAfter = Math.min(networkTime.getTime(), ...basesOf(followers))
  const notBefore = Math.max(createdAt.getTime(), ...basesOf(follows[status]))
  return new Date(Math.max(notAfter, notBefore) + offsetMs[status])
}

const statusNames = Object.keys(follows) as NetworkStatus[]
