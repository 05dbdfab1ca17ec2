import { Queue } from '../lib/queue.ts'
import { waitForConnectionMs } from './limits.ts'
import type { Borrow } from './pool.ts'

interface Share {
  inUse: number
  waiting: Queue<Pass>
}

/** Passes a place to a statement that waits. False if it has given up. */
type Pass = () => boolean

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
    else await waitIn(waiting)
    try {
      return await borrow(work)
    } finally {
      // Its place passes to the statement that has waited longest.
      let next = waiting.shift()
      while (next && !next()) next = waiting.shift()
      if (!next && --share.inUse === 0) shares.delete(workspaceId)
    }
  }
}

/** Fails like a pool that has no connection for as long. */
const waitIn = (waiting: Queue<Pass>): Promise<void> =>
  new Promise((resolve, reject) => {
    let hasGivenUp = false
    const timer = setTimeout(() => {
      hasGivenUp = true
      reject(new Error('timeout exceeded when trying to connect: the workspace uses its share of the connections'))
    }, waitForConnectionMs).unref()
    waiting.push(() => {
      clearTimeout(timer)
      resolve()
      return !hasGivenUp
    })
  })
