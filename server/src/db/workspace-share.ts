import { Queue } from '../lib/queue.ts'
import type { Borrow } from './pool.ts'

interface Share {
  inUse: number
  waiting: Queue<() => void>
}

/**
 * Lets a workspace use about half of the connections at a time, so that one that sends many requests, or slow ones,
 * cannot use all of them. Some requests run several statements at a time, so connections are counted, not requests.
 */
export function shareByWorkspace(borrow: Borrow, connections: number): (workspaceId: string) => Borrow {
  const most = Math.ceil(connections / 2)
  const shares = new Map<string, Share>()
  return (workspaceId) => async (work) => {
    let share = shares.get(workspaceId)
    if (!share) {
      share = { inUse: 0, waiting: new Queue() }
      shares.set(workspaceId, share)
    }
    const { waiting } = share
    if (share.inUse < most) share.inUse++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await borrow(work)
    } finally {
      // Its place passes to the statement that has waited longest.
      const next = waiting.shift()
      if (next) next()
      else if (--share.inUse === 0) shares.delete(workspaceId)
    }
  }
}
