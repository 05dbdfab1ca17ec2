import type { Database, Db } from '../../db/db.ts'
import type { Session } from '../../db/session.ts'
import type { Clock } from '../../lib/clock.ts'
import { newUuid } from '../../lib/ids.ts'
import type { Logger } from '../../lib/logger.ts'
import { type Charge, chargeBudgets } from './admission.sql.ts'
import { clearKeeper, type Look, loadWindows, lookAtRevision, saveWindows, setKeeper } from './keeper.sql.ts'
import { Windows } from './windows.ts'

/**
 * Counts the budgets, exactly, over all processes.
 *
 * - `shared`: several processes may be at work; each charge is a row in the database.
 * - `alone`: this is the only process; charges are counted in memory. A look into the database tells whether that still
 *   holds, and the access revision. For a few milliseconds from then on it is a lease: no change to either is committed
 *   before the lease is over (`outwait_leases`), so nobody has to look again.
 *
 * Every process holds the lock `presence` in shared mode on its session. The one that gets it exclusively is alone, and
 * writes its name as `keeper` beside the revision. A process that starts asks for its place with a notification: the
 * keeper writes its windows to the database, takes its name off and lets go of the exclusive lock; only then does the
 * other begin. A keeper that died has lost its lock with its session. One that does not react is fenced off: its name is
 * taken off for it once its lease is over, and it sees so with its next look.
 */
const presence = 7_215_500
const channel = 'parley_budgets'
const lookAroundMs = 5_000
/** From the moment the look left; `outwait_leases` waits a little longer. */
const leaseMs = 50

type Mode = 'shared' | 'alone'

export interface Keeper {
  /** Charges nobody if the access revision is not the one given; the answer says which it is. */
  charge(revision: number, charges: ReadonlyMap<string, Charge>): Promise<number>
  /** What to charge without asking, if it is certain that the revision is the one given. */
  leased(revision: number): Windows | undefined
  stop(): Promise<void>
}

export async function startKeeper(db: Database, clock: Clock, log: Logger, patienceMs = 5_000): Promise<Keeper> {
  const keeper = new BudgetKeeper(db, clock, log, patienceMs)
  await keeper.start()
  return keeper
}

interface Lease {
  revision: number
  untilMs: number
}

const noLease: Lease = { revision: -1, untilMs: Number.NEGATIVE_INFINITY }

class BudgetKeeper implements Keeper {
  readonly #db: Database
  readonly #clock: Clock
  readonly #log: Logger
  readonly #patienceMs: number
  readonly #name = newUuid()
  #session: Session | undefined
  /** Among the processes. While it is waited for, the session can do nothing else. */
  #hasPlace = false
  #mode: Mode = 'shared'
  #windows = new Windows()
  #lease = noLease
  #isRenewing = false
  /** Changes of mode, one after the other; charges wait for the one under way. */
  #change: Promise<void> = Promise.resolve()
  #changing = 0
  readonly #inTable = new Set<Promise<unknown>>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor(db: Database, clock: Clock, log: Logger, patienceMs: number) {
    this.#db = db
    this.#clock = clock
    this.#log = log
    this.#patienceMs = patienceMs
  }

  async start(): Promise<void> {
    await this.#join()
    this.#timer = setInterval(() => void this.#lookAround(), lookAroundMs)
    this.#timer.unref()
  }

  async charge(revision: number, charges: ReadonlyMap<string, Charge>): Promise<number> {
    for (;;) {
      if (this.#changing > 0) await this.#change
      if (this.#mode === 'shared') return this.#chargeTable(revision, charges)
      const seen = await this.#look()
      if (this.#mode === 'alone' && this.#changing === 0) {
        if (seen?.keeper === this.#name) {
          if (seen.revision === revision) this.#windows.charge(charges.values(), this.#clock.now().getTime())
          return seen.revision
        }
        await this.#switch(() => this.#giveUp())
      }
    }
  }

  leased(revision: number): Windows | undefined {
    const msLeft = this.#lease.untilMs - performance.now()
    if (msLeft <= 0 || this.#lease.revision !== revision) return undefined
    if (msLeft < leaseMs / 2) void this.#renew()
    return this.#windows
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearInterval(this.#timer)
    await this.#switch(() => this.#giveUp())
    await this.#session?.close().catch(() => {})
  }

  /** Undefined if the session is gone: then we are alone no more. */
  async #look(): Promise<Look | undefined> {
    const untilMs = performance.now() + leaseMs
    const seen = this.#session && (await lookAtRevision(this.#session).catch(() => undefined))
    const isOurs = this.#mode === 'alone' && this.#changing === 0 && seen?.keeper === this.#name
    if (isOurs && seen.isCalm) this.#lease = { revision: seen.revision, untilMs }
    return seen
  }

  /** While requests come in, the next lease begins before the last one is over. */
  async #renew(): Promise<void> {
    if (this.#isRenewing) return
    this.#isRenewing = true
    await this.#look()
    this.#isRenewing = false
  }

  #chargeTable(revision: number, charges: ReadonlyMap<string, Charge>) {
    const charging = chargeBudgets(this.#db, revision, charges, this.#clock.pinned())
    this.#inTable.add(charging)
    const done = () => this.#inTable.delete(charging)
    charging.then(done, done)
    return charging
  }

  /** Takes a place among the processes, alone if there is no other. */
  async #join(): Promise<void> {
    const session = await this.#db.session()
    this.#session = session
    session.onLost(() => void this.#rejoin())
    await session.listen(channel, () => void this.#switch(() => this.#giveUp()))
    this.#hasPlace = await tryLock(session, 'pg_try_advisory_lock_shared')
    if (!this.#hasPlace) {
      await session.rows(`select pg_notify($1, '')`, [channel])
      await this.#waitForPlace(session)
    }
    // Whoever is called the keeper now is dead or hangs, and may have a lease yet.
    await setKeeper(this.#db, null)
    await this.#switch(() => this.#tryAlone())
  }

  async #waitForPlace(session: Session): Promise<void> {
    const place = session.rows('select pg_advisory_lock_shared($1)', [presence]).then(() => {
      this.#hasPlace = true
    })
    const late = new Promise<void>((resolve) => setTimeout(resolve, this.#patienceMs).unref())
    await Promise.race([place, late])
    if (this.#hasPlace) return
    // Our request stays in line, so we have our place the moment the other one moves.
    place.catch(() => {})
    this.#log.warn('another process does not hand over the budgets; it is fenced off')
  }

  /** The session is gone, and with it our place: another process may be counting already. */
  async #rejoin(): Promise<void> {
    await this.#switch(() => this.#giveUp())
    while (!this.#stopped) {
      try {
        return await this.#join()
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1000).unref())
      }
    }
  }

  async #lookAround(): Promise<void> {
    this.#windows.forgetPast(this.#clock.now().getTime())
    if (this.#mode === 'shared' && this.#changing === 0) await this.#switch(() => this.#tryAlone())
  }

  #switch(step: () => Promise<void>): Promise<void> {
    this.#changing++
    this.#lease = noLease
    this.#change = this.#change
      .then(step)
      .catch((error) => this.#log.warn({ err: error }, 'the budgets could not change hands'))
      .finally(() => {
        this.#changing--
      })
    return this.#change
  }

  async #tryAlone(): Promise<void> {
    if (this.#stopped || this.#mode === 'alone' || !this.#session || !this.#hasPlace) return
    if (!(await tryLock(this.#session, 'pg_try_advisory_lock'))) return
    await Promise.allSettled(this.#inTable)
    await setKeeper(this.#db, this.#name)
    const now = this.#clock.now()
    this.#windows = new Windows()
    for (const window of await loadWindows(this.#db, now, this.#clock.pinned())) this.#windows.put(window)
    this.#mode = 'alone'
  }

  /** Puts the windows where every process sees them, and lets the others begin. */
  async #giveUp(): Promise<void> {
    if (this.#mode === 'shared') return
    this.#mode = 'shared'
    const now = this.#clock.now()
    const windows = this.#windows.current(now.getTime())
    this.#windows = new Windows()
    await this.#db.transaction(async (tx: Db) => {
      await saveWindows(tx, windows, now, this.#clock.pinned())
      await clearKeeper(tx, this.#name)
    })
    await this.#session?.rows('select pg_advisory_unlock($1)', [presence])
  }
}

async function tryLock(
  session: Session,
  how: 'pg_try_advisory_lock' | 'pg_try_advisory_lock_shared',
): Promise<boolean> {
  const [row] = await session.rows<{ got: boolean }>(`select ${how}($1) as got`, [presence])
  return row?.got === true
}
