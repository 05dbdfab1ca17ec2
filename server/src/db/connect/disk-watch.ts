import { isDatabaseUnavailable } from './is-unavailable.ts'

/** While the disk is full, nearly every statement fails. */
const reportEveryMs = 60_000

/** Remembers that PostgreSQL could not write to its disk, until it can. */
export class DiskWatch {
  readonly #report: (error: Error) => void
  #reportedMs = Number.NEGATIVE_INFINITY
  #hasFailed = false
  /** Several callers share a try: it takes a moment. */
  #trying: Promise<void> | null = null

  constructor(report: (error: Error) => void) {
    this.#report = report
  }

  failed(error: Error): void {
    this.#hasFailed = true
    if (performance.now() - this.#reportedMs < reportEveryMs) return
    this.#reportedMs = performance.now()
    this.#report(error)
  }

  /** Whether nothing can be written. Once a statement has failed, this calls `write`, until that succeeds. */
  async isFull(write: () => Promise<unknown>): Promise<boolean> {
    if (!this.#hasFailed) return false
    this.#trying ??= this.#tryToWrite(write).finally(() => {
      this.#trying = null
    })
    await this.#trying
    return this.#hasFailed
  }

  async #tryToWrite(write: () => Promise<unknown>): Promise<void> {
    try {
      await write()
      this.#hasFailed = false
    } catch (error) {
      // Another error, such as a missing privilege, says nothing about the disk.
      this.#hasFailed = isDatabaseUnavailable(error)
    }
  }
}
