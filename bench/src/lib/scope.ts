import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import { openStore, type Store } from '@parley/server/db/store'
import { newLogger } from '@parley/server/telemetry/logger'
import { startTarget, type Target } from './process.ts'

/** What a benchmark uses. Whatever it starts ends with it, even if it fails or is interrupted. */
export class Scope {
  readonly say: (line: string) => void
  readonly faults: string[] = []
  readonly #ends: (() => unknown)[] = []

  constructor(say: (line: string) => void) {
    this.say = say
  }

  /** Marks the result as not valid. */
  fault(text: string): void {
    this.say(`NOT VALID: ${text}`)
    this.faults.push(text)
  }

  /** Runs `work` at the end. What was deferred last runs first. */
  defer(work: () => unknown): void {
    this.#ends.push(work)
  }

  newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'parley-bench-'))
    // Retries, because a PostgreSQL that is shutting down may still write there.
    this.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }))
    return folder
  }

  async startTarget(name: string, argument = ''): Promise<Target> {
    const target = await startTarget(name, argument)
    this.defer(() => target.stop())
    return target
  }

  /** Opens the embedded database in a data directory, and creates or migrates it if needed. */
  async openStore(dataDir: string): Promise<Store> {
    const config = readConfig({ PARLEY_DATA_DIR: dataDir })
    const store = await openStore(config, { purpose: 'visitor', schema: 'migrate', log: newLogger('silent') })
    this.defer(() => store.close())
    return store
  }

  /** Runs a part of the benchmark, and ends what that has started. */
  async part<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
    const part = new Scope(this.say)
    this.defer(() => part.end())
    try {
      return await work(part)
    } finally {
      await part.end()
      this.faults.push(...part.faults)
    }
  }

  async end(): Promise<void> {
    for (let work = this.#ends.pop(); work; work = this.#ends.pop()) {
      try {
        await work()
      } catch (error) {
        // The rest has to end too.
        this.fault(`ending failed: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
}
