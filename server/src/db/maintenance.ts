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
import type { Logger } from '../telemetry/logger.ts'
import type { Db } from './db.ts'
import { type Loop, reportFailure, startLoop } from './loop.ts'

/** A step of maintenance. Its statements are short: it deletes in batches. */
export interface MaintenanceStep {
  name: string
  everyMs: number
  run: Run
}

/** Every statement and transaction of this `db` fails with `NotOwner` if the process is no longer the owner. */
type Run = (db: Db) => Promise<unknown>

/** Runs the parts of a step one after another, even after a failure. Fails with the first error. */
export const inTurn =
  (...parts: readonly Run[]): Run =>
  async (db) => {
    const errors: unknown[] = []
    for (const part of parts) {
      await part(db).catch((error: unknown) => {
        if (error instanceof NotOwner) throw error
        errors.push(error)
      })
    }
    if (errors.length > 0) throw errors[0]
  }

const tickMs = 1_000
const atOnce = 6
/**
 * Of those, steps that run less often than `urgentMs`. Moving files and deleting past the retention can take minutes each; an
 * erasure or an early status must not wait for them.
 */
const slowAtOnce = 3
const urgentMs = 5_000
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

/** Competes for the lease until stopped, and runs the steps that are due while this process has it. */
export function startMaintenance(
  { db, log, process }: MaintenanceDeps,
  steps: readonly MaintenanceStep[],
): Pick<Loop, 'stop'> {
  const ownerId = newUuid()
  const running = new Map<MaintenanceStep, Promise<void>>()
  /** When each step is due, on the clock of `performance`. A step that is missing did not run yet. */
  const dueMs = new Map<MaintenanceStep, number>()
  let isOwner: boolean | null = null
  let renewMs = 0
  let stopping = false
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
    if (failure) reportFailure({ db, log }, { loop: 'maintenance', step: name }, failure.error)
    await recordRun(owned, { ...ended, error }).catch((error: unknown) => {
      // After a failure, the database may be away.
      if (!failure && !(error instanceof NotOwner))
        reportFailure({ db, log }, { loop: 'maintenance', step: name }, error)
    })
  }

  function startDueSteps(): void {
    const nowMs = performance.now()
    const sinceMs = (step: MaintenanceStep) => dueMs.get(step) ?? 0
    const due = steps.filter((step) => !running.has(step) && sinceMs(step) <= nowMs)
    due.sort((a, b) => sinceMs(a) - sinceMs(b))
    const isSlow = ({ everyMs }: MaintenanceStep) => everyMs > urgentMs
    for (const step of due) {
      if (running.size >= atOnce) break
      if (isSlow(step) && [...running.keys()].filter(isSlow).length >= slowAtOnce) continue
      const ended = runStep(step).finally(() => {
        running.delete(step)
        dueMs.set(step, performance.now() + step.everyMs)
      })
      running.set(step, ended)
    }
  }

  async function renew(): Promise<void> {
    if (performance.now() < renewMs) return
    renewMs = performance.now() + renewEveryMs
    const before = isOwner
    isOwner = await takeLease(db, ownerId, process)
    // No news when a process starts: a single one always takes it.
    if (isOwner && before === false)
      log.info({ event: 'maintenance.taken', process }, 'this process does the maintenance')
    if (isOwner && !before) await deleteOtherSteps(db, steps)
    if (!isOwner && before) {
      log.warn({ event: 'maintenance.lost', process }, 'another process does the maintenance: this one was away')
      await Promise.all(running.values())
      dueMs.clear()
    }
  }

  const loop = startLoop({ db, log }, 'maintenance', tickMs, async () => {
    await renew()
    if (isOwner && !stopping) startDueSteps()
  })

  return {
    async stop() {
      stopping = true
      await loop.stop()
      await Promise.all(running.values())
      const returned = returnLease(db, ownerId).catch(() => {})
      await Promise.race([returned, sleep(returnMs, undefined, { ref: false })])
    },
  }
}

export class NotOwner extends Error {}

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
    transactionAtOnce: transaction,
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

interface StepRun {
  step: string
  everyMs: number
  process: string
  durationMs: number
  error: string | null
}

const recordRun = (db: Db, { step, everyMs, process, durationMs, error }: StepRun): Promise<number> =>
  db.change(
    `insert into maintenance_steps as s (step, every_ms, process, ended_at, duration_ms, error, succeeded_at)
     values ($1, $2, $3, clock_timestamp(), $4, $5, case when $5::text is null then clock_timestamp() end)
     on conflict (step) do update set every_ms = excluded.every_ms, process = excluded.process,
       ended_at = excluded.ended_at, duration_ms = excluded.duration_ms, error = excluded.error,
       succeeded_at = coalesce(excluded.succeeded_at, s.succeeded_at)`,
    [step, everyMs, process, durationMs, error],
  )

/** Another version may have steps that this one does not run. They would count as late. */
const deleteOtherSteps = (db: Db, steps: readonly MaintenanceStep[]): Promise<number> =>
  db.change('delete from maintenance_steps where step <> all($1)', [steps.map(({ name }) => name)])

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
