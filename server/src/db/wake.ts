import type { LoopName } from '../lib/process.ts'
import type { Db } from './db.ts'

/** After the commit, starts the next run of the loop, if this process runs it. */
export const wakeHere = (db: Db, loop: LoopName): void => db.afterCommit(() => db.process.loops.get(loop)?.wake())

/** The topics that wake a loop in other processes. */
const topicOf = { deliveries: 'due', synchronise: 'sync_due' } as const

/** After the commit, starts the next run of the loop: in this process, or else in the processes that run it. */
export function wakeAnywhere(db: Db, loop: keyof typeof topicOf, workspaceId: string): void {
  if (db.process.loops.has(loop)) wakeHere(db, loop)
  else db.notify(workspaceId, topicOf[loop])
}
