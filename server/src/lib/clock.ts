/** The source of time. It is passed as an argument, so that tests can control it. */
export interface Clock {
  now(): Date
  /** The time for statements to use. Null: the database uses its own clock, which all processes share. */
  pinned(): Date | null
  /** The time of this machine's own clock, which may be wrong. */
  machine(): Date
  /** The database's clock has shown this time. Moves a clock forward that follows it and is behind. */
  observe?(databaseMs: number): void
}

/** This machine's own clock, for tests and tools. The service and the CLI use the database's clock. */
export const systemClock: Clock = { now: () => new Date(), pinned: () => null, machine: () => new Date() }

/**
 * Starts to measure; returns the milliseconds since then. Includes the time in which this machine was suspended: its
 * monotonic clock stops then, its wall clock does not.
 */
export function startTimer(clock: Clock): () => number {
  const began = { wall: clock.machine().getTime(), monotonic: performance.now() }
  return () => Math.max(clock.machine().getTime() - began.wall, performance.now() - began.monotonic)
}
