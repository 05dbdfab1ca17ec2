import type { Topic } from '@parley/contract/console/topics'

/** The topics that the console subscribes to, and `access`: a person may have lost access. */
export type ChangeTopic = Topic | 'access'

/** Says that a topic changed in a workspace. It has no data: receivers read the current state. */
export interface ChangeNotice {
  /** For `access`, the ID of the person. */
  workspaceId: string
  topic: ChangeTopic
}

/** Null if notices may have been lost. */
export type OnChange = (notice: ChangeNotice | null) => void

export const changeChannel = 'parley_news'

/** The `application_name` of the connection that listens. Each process has one. */
export const listenerName = 'parley listener'

/** PostgreSQL limits a notification to 8000 bytes. An item has about 55. */
const maxItems = 100

/**
 * Collects change notices and sends them to all processes, at most every 300 ms and without duplicates. A thousand
 * changes to one console page make it refresh once.
 */
export class ChangeNotifier {
  readonly #send: (payload: string) => Promise<unknown>
  readonly #everyMs: number
  readonly #retryMs: number
  #items = new Map<string, ChangeNotice>()
  #timer: NodeJS.Timeout | undefined
  #sentAt = 0
  #closed = false

  constructor(send: (payload: string) => Promise<unknown>, { everyMs = 300, retryMs = 1_000 } = {}) {
    this.#send = send
    this.#everyMs = everyMs
    this.#retryMs = retryMs
  }

  notify(workspaceId: string, topic: ChangeTopic): void {
    if (this.#closed) return
    this.#add({ workspaceId, topic })
    this.#plan(Math.max(0, this.#sentAt + this.#everyMs - Date.now()))
  }

  /** Sends the notices that are still waiting. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#flush()
  }

  #add(notice: ChangeNotice): void {
    const key = `${notice.workspaceId} ${notice.topic}`
    if (!this.#items.has(key)) this.#items.set(key, notice)
  }

  #plan(waitMs: number): void {
    this.#timer ??= setTimeout(() => void this.#flush(), waitMs).unref()
  }

  async #flush(): Promise<void> {
    this.#timer = undefined
    this.#sentAt = Date.now()
    const all = [...this.#items.values()]
    this.#items = new Map()
    for (let from = 0; from < all.length; from += maxItems) {
      const part = all.slice(from, from + maxItems)
      try {
        await this.#send(JSON.stringify(part.map(({ workspaceId, topic }) => [workspaceId, topic])))
      } catch {
        // Others may listen all the time, so they do not look again by themselves. Database failures are reported elsewhere.
        if (this.#closed) return
        for (const notice of part) this.#add(notice)
        this.#plan(this.#retryMs)
      }
    }
  }
}

export const readChangeNotices = (payload: string): ChangeNotice[] =>
  (JSON.parse(payload) as [string, ChangeTopic][]).map(([workspaceId, topic]) => ({ workspaceId, topic }))
