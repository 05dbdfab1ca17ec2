import type { Clock } from '../lib/clock.ts'
import { formatDuration } from '../lib/format-duration.ts'
import type { Logger } from '../lib/logger.ts'
import { type Loop, startLoop } from '../lib/loop.ts'
import { StartupError } from '../lib/refuse.ts'
import type { Db } from './db.ts'

/** Leases last half a minute: a process that is further off than this could take what belongs to another. */
export const maxApartMs = 15_000

const lookEveryMs = 5_000
const checkEveryMs = 500
/** So much more or less of wall time than of monotonic time: the machine was suspended, or its clock was set. */
const jumpMs = 1_000

/** What a machine knows of time by itself, in milliseconds. */
export interface MachineTime {
  /** The wall clock, which somebody may set. */
  wall(): number
  /** Only ever goes forward, at the pace of time. */
  monotonic(): number
}

const thisMachine: MachineTime = { wall: () => Date.now(), monotonic: () => performance.now() }

/**
 * The database's time, which all processes share. It is read from time to time and carried forward by the monotonic clock,
 * so setting this machine's wall clock changes nothing. Before the first look it is the wall clock's time.
 */
export class DatabaseClock implements Clock {
  readonly #machine: MachineTime
  /** The database's time at the last look. */
  #readMs: number
  /** This machine's time at the last look. */
  #lookedAt: { wall: number; monotonic: number }

  constructor(machine: MachineTime = thisMachine) {
    this.#machine = machine
    this.#lookedAt = { wall: machine.wall(), monotonic: machine.monotonic() }
    this.#readMs = this.#lookedAt.wall
  }

  now(): Date {
    return new Date(this.#ms(this.#machine.monotonic()))
  }

  pinned(): null {
    return null
  }

  machine(): Date {
    return new Date(this.#machine.wall())
  }

  /**
   * Reads the database's time, and says by how many milliseconds at least this machine's wall clock is ahead of it. The
   * database answered at some moment between question and answer, so our time changes only if it does not fit in between.
   */
  async look(db: Db): Promise<number> {
    const { wall, monotonic } = this.#machine
    const asked = { wall: wall(), monotonic: monotonic() }
    const row = await db.first<{ now: Date }>('select clock_timestamp() as now')
    const responded = { wall: wall(), monotonic: monotonic() }
    const there = row?.now.getTime() ?? responded.wall
    const latest = there + (responded.monotonic - asked.monotonic) + 1
    this.#readMs = within(this.#ms(responded.monotonic), there, latest)
    this.#lookedAt = responded
    return aheadOf(there, asked.wall, responded.wall)
  }

  /** Whether it is time for another look: some seconds have passed, or the two clocks of this machine went apart. */
  get isStale(): boolean {
    const wall = this.#machine.wall() - this.#lookedAt.wall
    const monotonic = this.#machine.monotonic() - this.#lookedAt.monotonic
    return monotonic >= lookEveryMs || Math.abs(wall - monotonic) > jumpMs
  }

  #ms(monotonic: number): number {
    return this.#readMs + (monotonic - this.#lookedAt.monotonic)
  }
}

/**
 * By how many milliseconds at least a clock is ahead of the database's, which showed `there` at some moment between the two
 * times of that clock.
 */
export const aheadOf = (there: number, asked: number, responded: number): number =>
  within(there, asked, responded) - there

const within = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value))

/** For what cannot be undone: the database's time as of now, not carried forward from an earlier look. */
export async function databaseNow(db: Db, clock: Clock): Promise<Date> {
  const pinned = clock.pinned()
  if (pinned) return pinned
  const row = await db.first<{ now: Date }>('select now() as now')
  return row?.now ?? clock.now()
}

/** A clock that follows this database. Refuses to start where the two clocks are too far apart. */
export async function openDatabaseClock(db: Db): Promise<DatabaseClock> {
  const clock = new DatabaseClock()
  const aheadMs = await clock.look(db)
  if (Math.abs(aheadMs) > maxApartMs) {
    throw new StartupError(`${wordsFor(aheadMs)} Set it right, for example with NTP, and start again.`)
  }
  return clock
}

export interface ClockWatch {
  /** The clocks are too far apart. Called at every look until they agree. */
  onApart(): Promise<void>
  /** They agree again. */
  onAgree(): Promise<void>
}

/** Follows the database's time, and watches whether this machine's clock comes too far apart from it. */
export function watchClock(clock: DatabaseClock, db: Db, log: Logger, { onApart, onAgree }: ClockWatch): Loop {
  let apart = false
  return startLoop({ db, log }, 'clock', checkEveryMs, async () => {
    if (!clock.isStale) return
    const aheadMs = await clock.look(db)
    if (Math.abs(aheadMs) > maxApartMs) {
      if (!apart) {
        const fields = { event: 'clock.apart', ahead_ms: Math.round(aheadMs) } as const
        log.error(fields, `${wordsFor(aheadMs)} This process takes no work until the clock is correct.`)
      }
      apart = true
      await onApart()
    } else if (apart) {
      await onAgree()
      apart = false
      log.info({ event: 'clock.agrees' }, 'the clock of this machine is correct again; taking work')
    }
  })
}

const wordsFor = (aheadMs: number): string =>
  `The clock of this machine is ${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of the database.`
