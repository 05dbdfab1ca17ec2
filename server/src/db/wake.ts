import type { WorkerLoop } from '../lib/other-workers.ts'
import type { LoopName } from '../lib/process.ts'
import type { Db } from './db.ts'

/** After the commit, starts the next run of the loop, if this process runs it. */
export const wakeHere = (db: Db, loop: LoopName): void => db.afterCommit(() => db.process.loops.get(loop)?.wake())

/** The topics that wake a loop in processes that do not announce themselves, because they have an earlier version. */
const topicOf = { deliveries: 'due', 'sync accounts': 'sync_due' } as const

/** After the commit, starts the next run of the loop: in this process, or else in another one that runs it. */
export function wakeAnywhere(db: Db, loop: WorkerLoop, workspaceId: string): void {
  if (db.process.loops.has(loop)) wakeHere(db, loop)
  else
    db.afterCommit(() => {
      if (!db.process.otherWorkers.wake(loop) && isKey(topicOf, loop)) db.notify(workspaceId, topicOf[loop])
    })
}

/** After the commit, starts the next run of the loop in another process, if there is one that runs it. */
export const wakeOther = (db: Db, loop: WorkerLoop): void =>
  db.afterCommit(() => void db.process.otherWorkers.wake(loop))

const isKey = <T extends object>(object: T, key: PropertyKey): key is keyof T => key in object
