import type { Topic } from '@parley/contract/console/topics'

/**
 * The topics that the console subscribes to, two that only wake workers (a delivery is due, a sync is due), and `access`: a
 * person may have lost access.
 */
export type ChangeTopic = Topic | 'due' | 'sync_due' | 'access'

/** Says that a topic changed in a workspace. It has no data: receivers read the current state. */
export interface ChangeNotice {
  /** For `access`, the ID of the person. */
  workspaceId: string
  topic: ChangeTopic
}

export const changeChannel = 'parley_news'

/** PostgreSQL limits a notification to 8000 bytes. An item has about 55. */
const maxItems = 100

/**
 * Collects change notices and sends them to all processes, at most every 300 ms and without duplicates. A thousand
 * changes to one console page make it refresh once.
 */
export class ChangeNotifier {
  readonly #send: (payload: string) => Promise<unknown>
  readonly #everyMs: number
  #items = new Map<string, ChangeNotice>()
  #timer: NodeJS.Timeout | undefined
  #sentAt = 0
  #closed = false

  constructor(send: (payload: string) => Promise<unknown>, everyMs = 300) {
    this.#send = send
    this.#everyMs = everyMs
  }

  notify(workspaceId: string, topic: ChangeTopic): void {
    if (this.#closed) return
    const key = `${workspaceId} ${topic}`
    if (!this.#items.has(key)) this.#items.set(key, { workspaceId, topic })
    this.#timer ??= setTimeout(() => void this.#flush(), Math.max(0, this.#sentAt + this.#everyMs - Date.now())).unref()
  }

  /** Sends the notices that are still waiting. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#flush()
  }

  async #flush(): Promise<void> {
    this.#timer = undefined
    this.#sentAt = Date.now()
    const all = [...this.#items.values()]
    this.#items = new Map()
    for (let from = 0; from < all.length; from += maxItems) {
      const part = all.slice(from, from + maxItems).map(({ workspaceId, topic }) => [workspaceId, topic])
      // A lost notice only delays a refresh until the next one. Database failures are reported elsewhere.
      await this.#send(JSON.stringify(part)).catch(() => {})
    }
  }
}

export const readChangeNotices = (payload: string): ChangeNotice[] =>
  (JSON.parse(payload) as [string, ChangeTopic][]).map(([workspaceId, topic]) => ({ workspaceId, topic }))
