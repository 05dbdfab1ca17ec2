import type { RequestRecord } from '../../http/access-check.ts'
import { addressBlock } from '../../net/addresses.ts'

/** How many requests of one client, error and minute are in the request log. Enough to see what the client does. */
export const loggedPerClient = 10
/**
 * How many are logged of all clients in a minute and process, so that a client with many addresses cannot fill the disk.
 * The first of each client that is counted separately is logged in any case.
 */
export const loggedPerMinute = 1000
/** Clients and errors that are counted separately in a minute. All others of that minute are added up. */
export const clientsPerMinute = 250
/** A request takes less time than this, so the minute that it began in is still known. */
const maxMinutes = 10
const minuteMs = 60_000

interface Minute {
  /** How many requests of each client and error are in the log. */
  clients: Map<string, number>
  /** Requests in the log, beyond the first of each client. */
  logged: number
}

/**
 * Requests that belong to no workspace, because their key is missing or unknown. Anyone can send any number of them, so they
 * are counted by client, error and minute, and only the first of each are in the request log.
 */
export class UnauthenticatedLimits {
  /** By minute since 1970. */
  readonly #minutes = new Map<number, Minute>()

  /** The client that a request is counted for; null if it is counted together with others. */
  take({ at, code, address }: RequestRecord): { client: string | null; isLogged: boolean } {
    const minute = this.#minuteOf(at)
    const client = addressBlock(address)
    const logged = minute.clients.get(`${code} ${client}`) ?? 0
    if (logged === 0 && minute.clients.size >= clientsPerMinute) return { client: null, isLogged: false }
    const isLogged = logged === 0 || (logged < loggedPerClient && ++minute.logged <= loggedPerMinute)
    if (isLogged) minute.clients.set(`${code} ${client}`, logged + 1)
    return { client, isLogged }
  }

  #minuteOf(at: Date): Minute {
    const number = Math.floor(at.getTime() / minuteMs)
    const found = this.#minutes.get(number)
    if (found) return found
    const minute = { clients: new Map<string, number>(), logged: 0 }
    this.#minutes.set(number, minute)
    // A minute in the future was opened before the clock was set back.
    for (const other of this.#minutes.keys()) if (Math.abs(other - number) > maxMinutes) this.#minutes.delete(other)
    return minute
  }
}
