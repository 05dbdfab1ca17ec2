import type { Session } from '../../../../db/connect/session.ts'
import type { Database } from '../../../../db/db.ts'
import type { Clock } from '../../../../lib/clock.ts'
import { readRevision } from './targets.sql.ts'

const timeoutMs = 2_000

/**
 * Reads the routing revision on a dedicated connection, so it never waits for the pool. A read that fails or times out
 * closes the connection; the next read opens a new one. After a read, the clock is not behind the database's time of that
 * read, even if the machine was suspended.
 */
export class RoutingRevision {
  readonly #db: Database
  readonly #clock: Clock
  #session: Session | undefined
  #isClosed = false
  #last: Promise<unknown> = Promise.resolve()

  constructor(db: Database, clock: Clock) {
    this.#db = db
    this.#clock = clock
  }

  /** The revision at the time of the call, or a later one. Reads are sequential because they share the connection. */
  read(): Promise<number> {
    const reading = this.#last.then(() => this.#read())
    this.#last = reading.catch(() => {})
    return reading
  }

  async #read(): Promise<number> {
    if (this.#isClosed) throw closed()
    const session = this.#session ?? (await this.#open())
    // Closing the connection makes the current read fail.
    const timer = setTimeout(() => void this.#drop(), timeoutMs)
    try {
      const { revision, databaseMs } = await readRevision(session)
      this.#clock.observe?.(databaseMs)
      return revision
    } catch (error) {
      void this.#drop()
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#drop()
  }

  async #open(): Promise<Session> {
    const session = await this.#db.session()
    this.#session = session
    if (this.#isClosed) {
      await this.#drop()
      throw closed()
    }
    return session
  }

  async #drop(): Promise<void> {
    const session = this.#session
    this.#session = undefined
    await session?.close().catch(() => {})
  }
}

const closed = () => new Error('the routing revision reader is closed')
