import type { Db } from '../../db/db.ts'
import type { Caller } from '../../lib/gate.ts'
import type { Logger } from '../../lib/logger.ts'
import { saveUses, type Use } from './keys.sql.ts'

const flushMs = 500
/** A busy key is not written again before this has passed; its first use after a pause is written at once. */
const restMs = 10_000
const rememberedMax = 50_000

/** When and from where each key was last used. Not waited for by a request, and exact to ten seconds. */
export class KeyUses {
  readonly #db: Db
  readonly #log: Logger
  readonly #written = new Map<string, number>()
  #waiting = new Map<string, Use>()
  readonly #timer: NodeJS.Timeout

  constructor(db: Db, log: Logger) {
    this.#db = db
    this.#log = log
    this.#timer = setInterval(() => void this.#flush(false), flushMs)
    this.#timer.unref()
  }

  note({ keyId, workspaceId }: Caller, at: Date, address: string): void {
    this.#waiting.set(keyId, { keyId, workspaceId, at, address })
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flush(true)
  }

  async #flush(all: boolean): Promise<void> {
    const due = [...this.#waiting.values()].filter(
      (use) => all || use.at.getTime() - (this.#written.get(use.keyId) ?? 0) >= restMs,
    )
    if (due.length === 0) return
    for (const use of due) {
      this.#waiting.delete(use.keyId)
      this.#written.set(use.keyId, use.at.getTime())
    }
    if (this.#written.size > rememberedMax) this.#written.clear()
    try {
      await saveUses(this.#db, due)
    } catch (error) {
      this.#log.warn({ err: error, keys: due.length }, 'the last use of some keys could not be written')
    }
  }
}
