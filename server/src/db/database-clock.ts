import type { Clock } from '../lib/clock.ts'
import { formatDuration } from '../lib/format.ts'
import { StartupError } from '../lib/refuse.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { Db } from './db.ts'

/** Leases last 30 seconds. With a larger skew a process could claim work that another one still holds. */
export const maxSkewMs = 15_000

const syncEveryMs = 5_000
/** If wall time and monotonic time differ by more than this, the machine was suspended or its clock was set. */
const jumpMs = 1_000

/** The clocks of this machine, in milliseconds. */
export interface MachineTime {
  /** The wall clock, which can be set. */
  wall(): number
  /** Never jumps and never goes back. */
  monotonic(): number
}

const thisMachine: MachineTime = { wall: () => Date.now(), monotonic: () => performance.now() }

/**
 * The database's time, which all processes share. It is read every few seconds and advanced by the monotonic clock in
 * between, so setting this machine's wall clock has no effect. Before the first sync it is the wall clock's time.
 */
export class DatabaseClock implements Clock {
  readonly #machine: MachineTime
  #databaseMs: number
  /** How far tests have moved it ahead of the database. */
  #movedMs = 0
  #syncedAt: { wall: number; monotonic: number }

  constructor(machine: MachineTime = thisMachine) {
    this.#machine = machine
    this.#syncedAt = { wall: machine.wall(), monotonic: machine.monotonic() }
    this.#databaseMs = this.#syncedAt.wall
  }

  now(): Date {
    return new Date(this.#ms(this.#machine.monotonic()) + this.#movedMs)
  }

  /** Once it was moved, the database's own clock is behind. */
  pinned(): Date | null {
    return this.#movedMs === 0 ? null : this.now()
  }

  /** Moves it forward, for tests. */
  advance(byMs: number): void {
    this.#movedMs += byMs
  }

  machine(): Date {
    return new Date(this.#machine.wall())
  }

  /**
   * Reads the database's time, and returns by how many milliseconds this machine's wall clock is ahead of it, at least.
   * The database read its clock at some moment between our request and its response, so this clock changes only if its
   * time is outside that interval.
   */
  async sync(db: Db): Promise<number> {
    const { wall, monotonic } = this.#machine
    const sent = { wall: wall(), monotonic: monotonic() }
    const row = await db.first<{ now: Date }>('select clock_timestamp() as now')
    const received = { wall: wall(), monotonic: monotonic() }
    const databaseMs = row?.now.getTime() ?? received.wall
    const latest = databaseMs + (received.monotonic - sent.monotonic) + 1
    this.#databaseMs = clamp(this.#ms(received.monotonic), databaseMs, latest)
    this.#syncedAt = received
    return aheadOf(databaseMs, sent.wall, received.wall)
  }

  /**
   * The monotonic clock stops while the machine is suspended. A time that was read from the database since then shows it
   * before the next sync does.
   */
  observe(databaseMs: number): void {
    this.#databaseMs += Math.max(0, databaseMs - this.now().getTime())
  }

  /** Whether the next sync is due: some seconds have passed, or this machine's wall clock jumped. */
  get isStale(): boolean {
    const wall = this.#machine.wall() - this.#syncedAt.wall
    const monotonic = this.#machine.monotonic() - this.#syncedAt.monotonic
    return monotonic >= syncEveryMs || Math.abs(wall - monotonic) > jumpMs
  }

  #ms(monotonic: number): number {
    return this.#databaseMs + (monotonic - this.#syncedAt.monotonic)
  }
}

/**
 * By how many milliseconds a clock is ahead of the database's clock, at least. The database's clock showed `databaseMs`
 * at some moment between `sentMs` and `receivedMs` of the other clock.
 */
export const aheadOf = (databaseMs: number, sentMs: number, receivedMs: number): number =>
  clamp(databaseMs, sentMs, receivedMs) - databaseMs

const clamp = (value: number, min: number, max: number): number => Math.max(min, Math.min(max, value))

/** Reads the database's current time. For deletions, which must not rely on a time from an earlier sync. */
export async function databaseNow(db: Db, clock: Clock): Promise<Date> {
  const pinned = clock.pinned()
  if (pinned) return pinned
  const row = await db.first<{ now: Date }>('select now() as now')
  return row?.now ?? clock.now()
}

/** Creates a clock that follows this database. Throws if this machine's clock is too far off. */
export async function openDatabaseClock(db: Db): Promise<DatabaseClock> {
  const clock = new DatabaseClock()
  const aheadMs = await clock.sync(db)
  if (Math.abs(aheadMs) > maxSkewMs) {
    throw new StartupError(`${describeSkew(aheadMs)} Correct the wrong one, for example with NTP, and start again.`)
  }
  return clock
}

export interface ClockWatch {
  /** The clocks differ too much. Called at every sync until they agree. */
  onApart(): Promise<void>
  onAgree(): Promise<void>
}

/** Returns a check that syncs the clock with the database, and reports when this machine's clock differs too much from it. */
export function newClockCheck(
  clock: DatabaseClock,
  db: Db,
  log: Logger,
  { onApart, onAgree }: ClockWatch,
): () => Promise<void> {
  let apart = false
  return async () => {
    if (!clock.isStale) return
    const aheadMs = await clock.sync(db)
    if (Math.abs(aheadMs) > maxSkewMs) {
      if (!apart) {
        const fields = { event: 'clock.skewed', ahead_ms: Math.round(aheadMs) } as const
        log.error(fields, `${describeSkew(aheadMs)} This process takes no work until the clock is correct.`)
      }
      apart = true
      await onApart()
    } else if (apart) {
      await onAgree()
      apart = false
      log.info({ event: 'clock.agrees' }, 'the clock of this machine is correct again; taking work')
    }
  }
}

const describeSkew = (aheadMs: number): string =>
  `The clock of this machine is ${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of the database.`
