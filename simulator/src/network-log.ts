/** An API call from the app, a webhook to the app, or a note by the simulator. */
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
  name: 'wire' | 'message' | 'change' | 'status' | 'phone' | 'template' | 'reset'
  data: unknown
}

const maxBodyLength = 16_384

/** Keeps the latest entries, oldest first, and publishes live events to listeners. */
export class NetworkLog {
  #entries: NetworkLogEntry[] = []
  #listeners = new Set<(event: NetworkLogEvent) => void>()
  #seq = 0
  #now: () => Date
  #maxEntries: number
  #print: (line: string) => void

  constructor(now: () => Date, maxEntries: number, print: (line: string) => void) {
    this.#now = now
    this.#maxEntries = maxEntries
    this.#print = print
  }

  add(entry: NewEntry): void {
    const stored = { seq: ++this.#seq, at: this.#now().toISOString(), ...entry } as NetworkLogEntry
    if (stored.kind !== 'note') {
      stored.request = truncate(stored.request)
      stored.response = truncate(stored.response)
    }
    this.#entries.push(stored)
    if (this.#entries.length > this.#maxEntries * 1.25) this.#entries = this.#entries.slice(-this.#maxEntries)
    this.#print(lineOf(stored))
    this.publish({ name: 'wire', data: stored })
  }

  note(text: string): void {
    this.add({ kind: 'note', text })
  }

  /** The latest entries whose `seq` is greater than `after`, oldest first. */
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

  publish(event: NetworkLogEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

function truncate(body: string): string {
  return body.length > maxBodyLength ? `${body.slice(0, maxBodyLength)}… (${body.length} characters)` : body
}

function lineOf(entry: NetworkLogEntry): string {
  switch (entry.kind) {
    case 'call':
      return `call     ${entry.method} ${entry.url} → ${entry.status ?? 'no response'} (${entry.durationMs} ms)`
    case 'webhook':
      return `webhook  ${entry.updates} update(s) → ${entry.url} → ${entry.status ?? entry.error} (attempt ${entry.attempt}, ${entry.durationMs} ms)`
    case 'note':
      return `note     ${entry.text}`
  }
}
