import type { Logger } from '../../telemetry/logger.ts'
import type { Connection } from '../connect/connection.ts'
import { isDatabaseAway } from '../connect/pool.ts'
import type { Session } from '../connect/session.ts'
import { type Database, type Db, openDatabase } from '../db.ts'
import { type Position, primaryText, standbyText } from './replica-position.ts'
import { type ReplicaState, ReplicaWatch } from './replica-watch.ts'

/** Connections for statements within a workspace, and for statements that see all workspaces. One more compares the positions. */
const connectionsOfEachPool = 4

/** A standby, for the lists, exports and counts of the console. */
export interface Replica {
  /** Reads from the standby while it is up to date, otherwise from the primary. Everything else is done on the primary. */
  db: Db
  state: ReplicaState
  whenReadable(show: () => void): void
  close(): Promise<void>
}

export function openReplica(primary: Database, connection: Connection, log: Logger): Replica {
  const standby = openDatabase({ ...connection, isReplica: true }, () => {}, connectionsOfEachPool)
  let session: Session | undefined

  /** Gives up the reads that are in progress there. */
  const pending = new Set<() => void>()

  async function readStandby(): Promise<Position> {
    try {
      // Its own connection, because lists may use those of the pools for long.
      session ??= await standby.session()
      return (await session.rows<Position>(standbyText))[0] as Position
    } catch (error) {
      await session?.close().catch(() => {})
      session = undefined
      throw error
    }
  }

  const watch = new ReplicaWatch({
    readPrimary: async () => (await primary.first<Position>(primaryText)) as Position,
    readStandby,
    onUsed: () => log.info({ event: 'database.replica_used' }, 'the console reads from the replica'),
    onLeft: (reason) =>
      log.warn({ event: 'database.replica_fallback', reason }, `the console reads from the primary only. ${reason}`),
    onSilent: () => {
      for (const giveUp of pending) giveUp()
    },
  })

  function unlessSilent<T>(result: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = () => reject(new Error('the replica does not respond'))
      pending.add(giveUp)
      void result.then(resolve, reject).finally(() => pending.delete(giveUp))
    })
  }

  async function read<T>(from: Db, otherwise: Db, run: (db: Db) => Promise<T>): Promise<T> {
    if (!watch.isUsable) return run(otherwise)
    try {
      return await unlessSilent(run(from))
    } catch (error) {
      // The time limit of a statement. The primary would take as long.
      if ((error as { code?: string }).code === '57014') throw error
      primary.telemetry.metrics.add('replica reads repeated', 'primary')
      if (isDatabaseAway(error)) watch.leave(`A statement failed on it: ${(error as Error).message}.`)
      return run(otherwise)
    }
  }

  const readingFrom = (from: Db, otherwise: Db): Db => ({
    ...otherwise,
    rows: (text, values) => read(from, otherwise, (db) => db.rows(text, values)),
    first: (text, values) => read(from, otherwise, (db) => db.first(text, values)),
    within: (workspaceId) => readingFrom(from.within(workspaceId), otherwise.within(workspaceId)),
  })

  return {
    db: readingFrom(standby, primary),
    state: watch,
    whenReadable: (show) => watch.whenReadable(show),
    async close() {
      await watch.close()
      await session?.close().catch(() => {})
      await standby.close()
    },
  }
}
