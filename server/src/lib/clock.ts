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

/** A clock that stands still until it is moved; for tests. */
export class FakeClock implements Clock {
  #now: number

  constructor(start: Date | string = '2026-11-15T09:00:00.000Z') {
    this.#now = new Date(start).getTime()
  }

  now(): Date {
    return new Date(this.#now)
  }

  pinned(): Date {
    return this.now()
  }

  machine(): Date {
    return this.now()
  }

  forward({ hours = 0, minutes = 0, seconds = 0, ms = 0 }): void {
    this.#now += ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms
  }
}
