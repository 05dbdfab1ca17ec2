/**
 * queued → sent → delivered → read, or failed. WhatsApp reports statuses in any order and repeatedly, and omits
 * `delivered` if it coincides with `read`. A status never moves backward. `delivered` and `read` outrank `failed`,
 * because the device confirmed them; `failed` applies only to a message that is at most `sent`.
 */
export type MessageStatus = 'queued' | NetworkStatus
export type NetworkStatus = 'sent' | 'delivered' | 'read' | 'failed'

/**
 * - `advance`: the message now has this status.
 * - `fill`: the message keeps its status, but the time and the event of this one are added if they are missing.
 * - `none`: nothing to do.
 */
export type StatusEffect = 'advance' | 'fill' | 'none'

const rank = { queued: 0, sent: 1, failed: 2, delivered: 3, read: 4 } as const satisfies Record<MessageStatus, number>

export function statusEffect(current: MessageStatus, next: NetworkStatus): StatusEffect {
  if (current === next) return 'none'
  if (rank[next] > rank[current]) return 'advance'
  return next === 'failed' ? 'none' : 'fill'
}
