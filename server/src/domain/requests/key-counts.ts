import type { KeyUse, RequestRecord } from '../../http/access-check.ts'

const hourMs = 3_600_000

/** Successful requests of a key, or of none, in an hour. */
export interface TrafficRow {
  hour: Date
  workspaceId: string | null
  keyId: string | null
  count: number
}

type Hour = Map<string | null, TrafficRow>

/** Counts successful requests by key and hour, and remembers the last use of each key. */
export class KeyCounts {
  /** By hour since 1970, then by key. */
  #hours = new Map<number, Hour>()
  #number = 0
  #hour: Hour = new Map()
  #uses = new Map<string, KeyUse>()
  #lastMs = 0

  get isEmpty(): boolean {
    return this.#hours.size + this.#uses.size === 0
  }

  /** When the last request began. */
  get lastAt(): Date {
    return new Date(this.#lastMs)
  }

  add({ at, caller, code, address }: RequestRecord, isUse: boolean): void {
    this.#lastMs = at.getTime()
    if (code === null) this.#count(caller)
    if (caller && isUse) this.#use(caller, address)
  }

  take(): { traffic: TrafficRow[]; uses: KeyUse[] } {
    const traffic = [...this.#hours.values()].flatMap((hour) => [...hour.values()])
    const uses = [...this.#uses.values()]
    this.#hours = new Map()
    this.#number = 0
    this.#uses = new Map()
    return { traffic, uses }
  }

  #count(caller: RequestRecord['caller']): void {
    const number = Math.floor(this.#lastMs / hourMs)
    if (number !== this.#number) {
      this.#number = number
      this.#hour = this.#hours.get(number) ?? new Map()
      this.#hours.set(number, this.#hour)
    }
    const keyId = caller?.keyId ?? null
    const row = this.#hour.get(keyId)
    if (row) row.count++
    else {
      const hour = new Date(number * hourMs)
      this.#hour.set(keyId, { hour, workspaceId: caller?.workspaceId ?? null, keyId, count: 1 })
    }
  }

  #use({ keyId, workspaceId }: { keyId: string; workspaceId: string }, address: string): void {
    const atMs = this.#lastMs
    const use = this.#uses.get(keyId)
    if (!use) this.#uses.set(keyId, { keyId, workspaceId, atMs, address })
    // Requests are recorded when they end, so a long one may be recorded after a later one.
    else if (use.atMs <= atMs) {
      use.atMs = atMs
      use.address = address
    }
  }
}
