import type { LoopName } from '../telemetry/telemetry.ts'
import type { Db } from './db.ts'
import { subscriberOf, type Topic } from './topic.ts'

/** A loop subscribes to its name when it starts. */
export const loopTopic = (loop: LoopName) => loop as Topic<{ wake(): void }>

/** Wakes a loop of another process, if one runs it. */
export const otherProcesses = 'other processes' as Topic<{ wake(loop: LoopName): void }>

/** After the commit, starts the next run of the loop, if this process runs it. */
export const wakeHere = (db: Db, loop: LoopName): void =>
  db.afterCommit(() => subscriberOf(db, loopTopic(loop))?.wake())

/** After the commit, starts the next run of the loop in another process, if one runs it. */
export const wakeOther = (db: Db, loop: LoopName): void =>
  db.afterCommit(() => subscriberOf(db, otherProcesses)?.wake(loop))

/** After the commit, starts the next run of the loop, in this process if it runs it, otherwise in another. */
export const wakeAnywhere = (db: Db, loop: LoopName): void =>
  subscriberOf(db, loopTopic(loop)) ? wakeHere(db, loop) : wakeOther(db, loop)
