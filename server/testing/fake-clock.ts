import type { Clock } from '../src/lib/clock.ts'

/** A clock that only moves when a test moves it. */
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
