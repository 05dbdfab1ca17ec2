import type { Topic } from '@parley/contract/console/topics'

/** What browsers may hear of, and two for processes alone: a delivery is due, a sync is due. */
export type ChangeTopic = Topic | 'due' | 'sync_due'

/** That something of a workspace changed; what it is, whoever cares asks for. */
export interface ChangeNotice {
  workspaceId: string
  topic: ChangeTopic
}

export const changeChannel = 'parley_news'

/** PostgreSQL takes up to 8000 bytes a notification; an item has about 55. */
const itemsMax = 100

/**
 * Gathers what changed and passes it on to every process over one notification, at most every 300 ms: a thousand
 * changes to one page of the console are one reason to look again.
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

  /** What was told and not sent yet goes out first. */
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
    for (let from = 0; from < all.length; from += itemsMax) {
      const part = all.slice(from, from + itemsMax).map(({ workspaceId, topic }) => [workspaceId, topic])
      // A hint that is lost costs a page the time until its next one; the database being away is told elsewhere.
      await this.#send(JSON.stringify(part)).catch(() => {})
    }
  }
}

export const readChangeNotices = (payload: string): ChangeNotice[] =>
  (JSON.parse(payload) as [string, ChangeTopic][]).map(([workspaceId, topic]) => ({ workspaceId, topic }))
