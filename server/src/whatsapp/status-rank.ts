/**
 * queued → sent → delivered → read, or failed. The network reports these in any order, several times, and leaves out
 * `delivered` when it comes together with `read`. A status never goes back. What the handset said (delivered, read)
 * outranks `failed`; `failed` only counts while nothing better than `sent` is known.
 */
export type MessageStatus = 'queued' | NetworkStatus
export type NetworkStatus = 'sent' | 'delivered' | 'read' | 'failed'

/**
 * - `advance`: the message now has this status.
 * - `fill`: it keeps its status; this one happened too, so its own time and event are still owed if they are missing.
 * - `none`: nothing to do.
 */
export type StatusEffect = 'advance' | 'fill' | 'none'

const rank = { queued: 0, sent: 1, failed: 2, delivered: 3, read: 4 } as const satisfies Record<MessageStatus, number>

export function statusEffect(current: MessageStatus, next: NetworkStatus): StatusEffect {
  if (current === next) return 'none'
  if (rank[next] > rank[current]) return 'advance'
  return next === 'failed' ? 'none' : 'fill'
}
