/** Time, handed to whoever needs it. */
export interface Clock {
  now(): Date
  /** The time to give the database in place of its own; null lets the database use its own, which all processes share. */
  pinned(): Date | null
  /** What this machine's own clock says, which may be wrong. */
  machine(): Date
}

/** This machine's own clock: for tests and tools. The service and the command line use the database's. */
export const systemClock: Clock = { now: () => new Date(), pinned: () => null, machine: () => new Date() }
