import type { LoopName } from '../telemetry/telemetry.ts'
import type { Db } from './db.ts'
import type { WorkerLoop } from './notices/other-workers.ts'

/** After the commit, starts the next run of the loop, if this process runs it. */
export const wakeHere = (db: Db, loop: LoopName): void => db.afterCommit(() => db.process.loops.get(loop)?.wake())

/** After the commit, starts the next run of the loop in another process, if there is one that runs it. */
export const wakeOther = (db: Db, loop: WorkerLoop): void =>
  db.afterCommit(() => void db.process.otherWorkers.wake(loop))

/** After the commit, starts the next run of the loop: in this process, or else in another one that runs it. */
export const wakeAnywhere = (db: Db, loop: WorkerLoop): void =>
  db.process.loops.has(loop) ? wakeHere(db, loop) : wakeOther(db, loop)
