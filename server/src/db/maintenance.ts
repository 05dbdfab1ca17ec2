/**
 * Maintenance: work on the whole database that one process at a time does for all, whatever its role. The owner has a
 * lease in the database and renews it. Every transaction of a step first checks the lease and locks it against a
 * takeover, so two processes never do maintenance at the same time:
 *
 *   the owner stops            → it returns the lease; another process takes it within seconds
 *   it dies or is cut off      → the lease ends; another process takes it
 *   it is frozen               → the same; PostgreSQL ends the transaction it was in, and it finds when it wakes up
 *                                that the lease is gone, before it changes anything
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { newUuid } from '../lib/ids.ts'
import type { Logger } from '../lib/logger.ts'
import { type Loop, startLoop } from '../lib/loop.ts'
import type { LoopName } from '../lib/process.ts'
import type { Db } from './db.ts'

/** A step of maintenance. Its statements are short: it deletes in batches. */
export interface MaintenanceStep {
  name: LoopName
  everyMs: number
  /** Every statement and transaction of this `db` fails with `NotOwner` if the process is no longer the owner. */
  run(db: Db): Promise<unknown>
}

const renewEveryMs = 3_000
/** Four renewals. A process that is frozen or cut off for longer loses the lease. */
const leaseMs = 12_000
/** How long stopping waits for a database that does not respond. The lease ends by itself then. */
const returnMs = 2_000

export interface MaintenanceDeps {
  db: Db
  log: Logger
  /** The machine and the process ID, for operators. */
  process: string
}

/** Competes for the lease until stopped, and runs the steps while this process has it. */
export function startMaintenance(
  { db, log, process }: MaintenanceDeps,
  steps: readonly MaintenanceStep[],
): Pick<Loop, 'stop'> {
  const ownerId = newUuid()
  let loops: Loop[] | null = null
  let stopping = false
  let isStarting = true
  const owned = ownedDb(db, async (tx) => {
    if (stopping || !(await holdLease(tx, ownerId))) throw new NotOwner()
  })

  async function runStep({ name, everyMs, run }: MaintenanceStep): Promise<void> {
    const began = performance.now()
    const failure = await run(owned).then(
      () => null,
      (error: unknown) => ({ error }),
    )
    if (failure?.error instanceof NotOwner) return
    const ended = { step: name, everyMs, process, durationMs: Math.round(performance.now() - began) }
    const error = failure && (failure.error instanceof Error ? failure.error.message : String(failure.error))
    const recorded = recordRun(owned, { ...ended, error })
    // The loop logs and counts the failure.
    if (failure) {
      await recorded.catch(() => {})
      throw failure.error
    }
    await recorded.catch((error: unknown) => {
      if (!(error instanceof NotOwner)) throw error
    })
  }

  async function stopSteps(): Promise<void> {
    const stopped = loops ?? []
    loops = null
    await Promise.all(stopped.map((loop) => loop.stop()))
  }

  const electing = startLoop({ db, log }, 'maintenance', renewEveryMs, async () => {
    const isOwner = await takeLease(db, ownerId, process)
    if (isOwner && !loops) {
      // No news when a process starts: a single one always takes it.
      if (!isStarting) log.info({ event: 'maintenance.taken', process }, 'this process does the maintenance')
      loops = steps.map((step) => startLoop({ db, log }, step.name, step.everyMs, () => runStep(step)))
    } else if (!isOwner && loops) {
      log.warn({ event: 'maintenance.lost', process }, 'another process does the maintenance: this one was away')
      await stopSteps()
    }
    isStarting = false
  })

  return {
    async stop() {
      stopping = true
      await electing.stop()
      await stopSteps()
      const returned = returnLease(db, ownerId).catch(() => {})
      await Promise.race([returned, sleep(returnMs, undefined, { ref: false })])
    },
  }
}

/** Thrown in a step of a process that lost the lease. */
class NotOwner extends Error {}

/** The same database, on which every statement runs in a transaction that calls `check` first. */
function ownedDb(db: Db, check: (tx: Db) => Promise<void>): Db {
  const transaction: Db['transaction'] = (work) =>
    db.transaction(async (tx) => {
      await check(tx)
      return work(tx)
    })
  return {
    ...db,
    transaction,
    rows: (text, values) => transaction((tx) => tx.rows(text, values)),
    first: (text, values) => transaction((tx) => tx.first(text, values)),
    change: (text, values) => transaction((tx) => tx.change(text, values)),
    copy: (table, columns, bytes) => transaction((tx) => tx.copy(table, columns, bytes)),
    within: () => {
      throw new Error('maintenance serves all workspaces')
    },
  }
}

/** Takes the lease if it is free, or renews it. A lease that ends too late is of before the clock was set back. */
async function takeLease(db: Db, ownerId: string, process: string): Promise<boolean> {
  const taken = await db.change(
    `update maintenance_owner set owner_id = $1, process = $2,
       since = case when owner_id = $1 then since else clock_timestamp() end,
       until = clock_timestamp() + $3 * interval '1 millisecond'
     where owner_id = $1 or until < clock_timestamp() or until > clock_timestamp() + $3 * interval '2 milliseconds'`,
    [ownerId, process, leaseMs],
  )
  return taken === 1
}

/** Whether the lease is still ours. If so, no other process gets it before the transaction ends. */
async function holdLease(tx: Db, ownerId: string): Promise<boolean> {
  const row = await tx.first(
    'select 1 from maintenance_owner where owner_id = $1 and until > clock_timestamp() for key share',
    [ownerId],
  )
  return row !== undefined
}

const returnLease = (db: Db, ownerId: string): Promise<number> =>
  db.change(`update maintenance_owner set until = '-infinity' where owner_id = $1`, [ownerId])

interface Run {
  step: string
  everyMs: number
  process: string
  durationMs: number
  error: string | null
}

const recordRun = (db: Db, { step, everyMs, process, durationMs, error }: Run): Promise<number> =>
  db.change(
    `insert into maintenance_steps as s (step, every_ms, process, ended_at, duration_ms, error, succeeded_at)
     values ($1, $2, $3, clock_timestamp(), $4, $5, case when $5::text is null then clock_timestamp() end)
     on conflict (step) do update set every_ms = excluded.every_ms, process = excluded.process,
       ended_at = excluded.ended_at, duration_ms = excluded.duration_ms, error = excluded.error,
       succeeded_at = coalesce(excluded.succeeded_at, s.succeeded_at)`,
    [step, everyMs, process, durationMs, error],
  )

export interface MaintenanceState {
  /** The last owner; null if there was none yet. */
  process: string | null
  since: Date | null
  /** How long there has been no owner; 0 if there is one, null if there never was. */
  withoutOwnerMs: number | null
  steps: MaintenanceRun[]
}

export interface MaintenanceRun {
  step: string
  everyMs: number
  endedAt: Date
  durationMs: number
  /** Since the last run that succeeded; null if none did. */
  sinceSuccessMs: number | null
  sinceEndMs: number
  error: string | null
}

export async function readMaintenance(db: Db): Promise<MaintenanceState> {
  const [owner, steps] = [
    await db.first<Omit<MaintenanceState, 'steps'>>(
      `select process, since, case when until > clock_timestamp() then 0
         else ${msSince(`nullif(greatest(until, (select max(ended_at) from maintenance_steps)), '-infinity')`)}
         end as "withoutOwnerMs"
       from maintenance_owner`,
    ),
    await db.rows<MaintenanceRun>(
      `select step, every_ms as "everyMs", ended_at as "endedAt", duration_ms as "durationMs", error,
         ${msSince('succeeded_at')} as "sinceSuccessMs", ${msSince('ended_at')} as "sinceEndMs"
       from maintenance_steps order by step`,
    ),
  ]
  return { process: null, since: null, withoutOwnerMs: null, ...owner, steps }
}

const msSince = (at: string): string => `(extract(epoch from clock_timestamp() - ${at}) * 1000)::float8`
