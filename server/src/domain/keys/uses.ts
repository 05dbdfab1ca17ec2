import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/access-check.ts'
import type { Logger } from '../../lib/logger.ts'
import { saveUses, type Use } from './keys.sql.ts'

const flushMs = 500
/** A busy key is not written again before this has passed; its first use after a pause is written at once. */
const restMs = 10_000
const rememberedMax = 50_000

/** A key that was turned away was not used; the log of refusals tells who tried. */
const turnedAway: ReadonlySet<string> = new Set(['key_revoked', 'key_expired', 'workspace_suspended', 'ip_not_allowed'])

/** When and from where each key was last used. Not waited for by a request, and at most ten seconds behind. */
export class KeyUses {
  readonly #db: Db
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  readonly #writtenMs = new Map<string, number>()
  readonly #waiting = new Map<string, Use>()
  #writing: Promise<void> = Promise.resolve()

  constructor(db: Db, log: Logger) {
    this.#db = db
    this.#log = log
    this.#timer = setInterval(() => void this.#flush(false), flushMs)
    this.#timer.unref()
  }

  note({ caller, code, at, address }: RequestRecord): void {
    if (!caller || (code !== null && turnedAway.has(code))) return
    const { keyId, workspaceId } = caller
    // A number: what is young and hangs on something old is what the collector of garbage is busy with.
    const atMs = at.getTime()
    const waiting = this.#waiting.get(keyId)
    if (!waiting) this.#waiting.set(keyId, { keyId, workspaceId, atMs, address })
    // Requests are noted when they end: a long one may be noted after a later one.
    else if (waiting.atMs <= atMs) {
      waiting.atMs = atMs
      waiting.address = address
    }
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#flush(true)
  }

  #flush(all: boolean): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write(all))
    return this.#writing
  }

  async #write(all: boolean): Promise<void> {
    const nowMs = performance.now()
    const due = [...this.#waiting.values()].filter(
      ({ keyId }) => all || nowMs - (this.#writtenMs.get(keyId) ?? -restMs) >= restMs,
    )
    if (due.length === 0) return
    for (const { keyId } of due) {
      this.#waiting.delete(keyId)
      this.#writtenMs.set(keyId, nowMs)
    }
    if (this.#writtenMs.size > rememberedMax) this.#writtenMs.clear()
    try {
      await saveUses(this.#db, due)
      for (const workspaceId of new Set(due.map((use) => use.workspaceId))) this.#db.notify(workspaceId, 'keys')
    } catch (error) {
      const fields = { event: 'keys.last_use_failed', err: error, keys: due.length } as const
      this.#log.warn(fields, 'writing the last use of API keys failed; retrying')
      for (const use of due) if (!this.#waiting.has(use.keyId)) this.#waiting.set(use.keyId, use)
    }
  }
}
