import type { Db } from '../../db/db.ts'
import type { RequestRecord } from '../../lib/access-check.ts'
import type { Logger } from '../../lib/logger.ts'
import { saveUses, type Use } from './keys.sql.ts'

const flushMs = 500
/** Minimum interval between two writes for a busy key. The first use after a pause is written without delay. */
const minIntervalMs = 10_000
const maxTrackedKeys = 50_000

/** Rejected requests do not count as a use of the key, neither as the last one nor by day; the API errors page shows them. */
export const rejectedCodes: ReadonlySet<string> = new Set([
  'key_revoked',
  'key_expired',
  'workspace_suspended',
  'ip_not_allowed',
])

/** Records when and from where each key was last used. Written in the background, at most ten seconds late. */
export class KeyUses {
  readonly #db: Db
  readonly #log: Logger
  readonly #timer: NodeJS.Timeout
  readonly #writtenMs = new Map<string, number>()
  readonly #pending = new Map<string, Use>()
  #writing: Promise<void> = Promise.resolve()

  constructor(db: Db, log: Logger) {
    this.#db = db
    this.#log = log
    this.#timer = setInterval(() => void this.#flush(false), flushMs)
    this.#timer.unref()
  }

  record({ caller, code, at, address }: RequestRecord): void {
    if (!caller?.keyId || (code !== null && rejectedCodes.has(code))) return
    const { keyId, workspaceId } = caller
    // Stored as a number: new Date objects held by a long-lived map make garbage collection expensive.
    const atMs = at.getTime()
    const pending = this.#pending.get(keyId)
    if (!pending) this.#pending.set(keyId, { keyId, workspaceId, atMs, address })
    // Requests are recorded when they end, so a long one may be recorded after a later one.
    else if (pending.atMs <= atMs) {
      pending.atMs = atMs
      pending.address = address
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
    const due = [...this.#pending.values()].filter(
      ({ keyId }) => all || nowMs - (this.#writtenMs.get(keyId) ?? -minIntervalMs) >= minIntervalMs,
    )
    if (due.length === 0) return
    for (const { keyId } of due) {
      this.#pending.delete(keyId)
      this.#writtenMs.set(keyId, nowMs)
    }
    if (this.#writtenMs.size > maxTrackedKeys) this.#writtenMs.clear()
    try {
      await saveUses(this.#db, due)
      for (const workspaceId of new Set(due.map((use) => use.workspaceId))) this.#db.notify(workspaceId, 'keys')
    } catch (error) {
      const fields = { event: 'keys.last_use_failed', err: error, keys: due.length } as const
      this.#log.warn(fields, 'writing the last use of API keys failed; retrying')
      for (const use of due) if (!this.#pending.has(use.keyId)) this.#pending.set(use.keyId, use)
    }
  }
}
