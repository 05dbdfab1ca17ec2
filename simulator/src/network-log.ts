/** Everything that crossed the wire, newest last, and the live feed of what happens in the world. */
export type NetworkLogEntry = { seq: number; at: string } & (
  | {
      kind: 'call'
      method: string
      url: string
      token: string | null
      request: string
      status: number | null
      response: string
      durationMs: number
    }
  | {
      kind: 'webhook'
      appId: string
      url: string
      attempt: number
      updates: number
      signature: string
      request: string
      status: number | null
      response: string
      error: string | null
      durationMs: number
    }
  | { kind: 'note'; text: string }
)

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never
type NewEntry = DistributiveOmit<NetworkLogEntry, 'seq' | 'at'>

export interface NetworkLogEvent {
  name: 'wire' | 'message' | 'status' | 'phone' | 'template' | 'reset'
  data: unknown
}

const longestBody = 16_384

export class NetworkLog {
  #entries: NetworkLogEntry[] = []
  #listeners = new Set<(event: NetworkLogEvent) => void>()
  #seq = 0
  #now: () => Date
  #kept: number
  #print: (line: string) => void

  constructor(now: () => Date, kept: number, print: (line: string) => void) {
    this.#now = now
    this.#kept = kept
    this.#print = print
  }

  add(entry: NewEntry): void {
    const full = { seq: ++this.#seq, at: this.#now().toISOString(), ...entry } as NetworkLogEntry
    if (full.kind !== 'note') {
      full.request = shorten(full.request)
      full.response = shorten(full.response)
    }
    this.#entries.push(full)
    if (this.#entries.length > this.#kept * 1.25) this.#entries = this.#entries.slice(-this.#kept)
    this.#print(lineOf(full))
    this.tell({ name: 'wire', data: full })
  }

  note(text: string): void {
    this.add({ kind: 'note', text })
  }

  /** The latest entries after `after`, oldest first. */
  list(limit: number, after = 0): NetworkLogEntry[] {
    return this.#entries.filter((entry) => entry.seq > after).slice(-limit)
  }

  clear(): void {
    this.#entries = []
  }

  listen(listener: (event: NetworkLogEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(event: NetworkLogEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

function shorten(body: string): string {
  return body.length > longestBody ? `${body.slice(0, longestBody)}… (${body.length} characters)` : body
}

function lineOf(entry: NetworkLogEntry): string {
  switch (entry.kind) {
    case 'call':
      return `call     ${entry.method} ${entry.url} → ${entry.status ?? 'no answer'} (${entry.durationMs} ms)`
    case 'webhook':
      return `webhook  ${entry.updates} update(s) → ${entry.url} → ${entry.status ?? entry.error} (attempt ${entry.attempt}, ${entry.durationMs} ms)`
    case 'note':
      return `note     ${entry.text}`
  }
}
