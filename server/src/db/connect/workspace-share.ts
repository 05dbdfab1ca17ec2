import { FairQueue } from '../../sharing/fair-queue.ts'
import { waitForConnectionMs } from './limits.ts'
import type { Borrow } from './pool.ts'

/**
 * Lets a workspace use about half of the connections at a time, so that a workspace with many or slow requests
 * cannot use all of them. Some requests run several statements at a time, so connections are counted, not requests.
 */
export function shareByWorkspace(borrow: Borrow, connections: number): (workspaceId: string) => Borrow {
  const shares = new FairQueue({
    runningPerOwner: Math.ceil(connections / 2),
    waitMs: waitForConnectionMs,
    // Fails like a pool that has no connection for as long.
    refusal: () =>
      new Error('timeout exceeded when trying to connect: the workspace uses its share of the connections'),
  })
  return (workspaceId) => (work) => shares.run(workspaceId, () => borrow(work))
}
