import type { LoopName } from '../lib/process.ts'
import type { Db } from './db.ts'

/** Once committed, the loop begins its next turn, if it runs in this process. */
export const wakeHere = (db: Db, loop: LoopName): void => db.afterCommit(() => db.process.loops.get(loop)?.wake())

/** What tells other processes to wake a loop. */
const topicOf = { deliveries: 'due', synchronise: 'sync_due' } as const

/** Once committed, the loop begins its next turn: in this process, or in those that run it. */
export function wakeAnywhere(db: Db, loop: keyof typeof topicOf, workspaceId: string): void {
  if (db.process.loops.has(loop)) wakeHere(db, loop)
  else db.notify(workspaceId, topicOf[loop])
}
