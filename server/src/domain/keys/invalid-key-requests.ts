import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/access-check.ts'
import { addressBlock } from '../../lib/addresses.ts'
import { FairShares } from '../../lib/fair-shares.ts'
import { keysWithHints, workspacesAt } from './invalid-key-requests.sql.ts'

const matchMs = 250
/**
 * Requests that wait for the next match, shared fairly by clients, so that a flood of one does not keep others' requests
 * from being matched. More than that in a quarter of a second are logged without a workspace.
 */
const maxWaiting = 2000
/** How many requests with an invalid key a workspace gets per minute and process, from all clients together. */
export const maxPerMinute = 60
/** An IP address that was last used longer ago may belong to someone else now. */
const addressDays = 30

type Caller = NonNullable<RequestRecord['caller']>

/**
 * Finds the workspaces that a request with an invalid key concerns, so that their API errors show it: the one with a key of
 * the same hint, or else the only one whose keys were last used from the same IP address. If several workspaces share the
 * address (a proxy, a cloud), none of them may see the others' requests. All others are logged without a workspace. It works on requests that have been responded to, so no response, nor its time, depends on the result.
 */
export class InvalidKeyRequests {
  readonly #db: Db
  readonly #log: (record: RequestRecord) => void
  readonly #timer: NodeJS.Timeout
  #waiting: RequestRecord[] = []
  #places = new FairShares(maxWaiting)
  #matching: Promise<void> = Promise.resolve()
  /** Requests of the current minute by workspace. */
  readonly #counts = new Map<string, number>()
  #minute = 0

  constructor(db: Db, log: (record: RequestRecord) => void) {
    this.#db = db
    this.#log = log
    this.#timer = setInterval(() => void this.#match(), matchMs)
    this.#timer.unref()
  }

  record(record: RequestRecord): void {
    if (record.code === 'invalid_key' && this.#places.take(addressBlock(record.address))) this.#waiting.push(record)
    else this.#log(record)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#match()
  }

  #match(): Promise<void> {
    this.#matching = this.#matching.then(() => this.#matchWaiting())
    return this.#matching
  }

  async #matchWaiting(): Promise<void> {
    const records = this.#waiting
    if (records.length === 0) return
    this.#waiting = []
    this.#places = new FairShares(maxWaiting)
    // The log reports it if the database is down, and keeps the requests.
    const callersOf = await this.#findCallers(records).catch(() => () => [])
    for (const record of records) {
      const callers = callersOf(record).filter(({ workspaceId }) => this.#takesMore(workspaceId))
      for (const caller of callers.length > 0 ? callers : [null]) this.#log({ ...record, caller })
    }
  }

  async #findCallers(records: readonly RequestRecord[]): Promise<(record: RequestRecord) => Caller[]> {
    const hints = [...new Set(records.flatMap(({ keyHint }) => keyHint ?? []))]
    const addresses = [...new Set(records.map(({ address }) => address))]
    const latestMs = Math.max(...records.map(({ at }) => at.getTime()))
    const since = new Date(latestMs - addressDays * 86_400_000)
    const [keys, workspaces] = await Promise.all([
      hints.length > 0 ? keysWithHints(this.#db, hints) : [],
      workspacesAt(this.#db, addresses, since, 2),
    ])
    const byHint = Map.groupBy(keys, ({ hint }) => hint)
    const byAddress = Map.groupBy(workspaces, ({ address }) => address)
    return ({ keyHint, address }) => {
      const [only, ...more] = byAddress.get(address) ?? []
      const atAddress = only && more.length === 0 ? [{ workspaceId: only.workspaceId, keyId: null }] : []
      return byHint.get(keyHint ?? '')?.slice(0, 1) ?? atAddress
    }
  }

  #takesMore(workspaceId: string): boolean {
    const minute = Math.floor(performance.now() / 60_000)
    if (minute !== this.#minute) this.#counts.clear()
    this.#minute = minute
    const count = this.#counts.get(workspaceId) ?? 0
    if (count >= maxPerMinute) return false
    this.#counts.set(workspaceId, count + 1)
    return true
  }
}
