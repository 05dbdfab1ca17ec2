import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Batch } from './webhooks/batch.ts'
import { emptyWorld, type World } from './world.ts'

/** The content of the state file: the state and the webhooks not yet accepted. */
export interface SavedState {
  world: World
  batches: Batch[]
}

const version = 1
const maxSavedMessages = 2_000
const minIntervalMs = 250

export function readState(path: string): SavedState | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const saved = parse(path, text)
  if (saved.version !== version)
    throw new Error(
      `${path} was written by another version of the simulator. Delete or rename it to start with a new state.`,
    )
  const world = emptyWorld() as unknown as Record<string, unknown>
  for (const [key, value] of Object.entries(saved.world))
    world[key] = world[key] instanceof Map ? new Map(value as [string, unknown][]) : value
  return { world: world as unknown as World, batches: saved.batches }
}

function parse(path: string, text: string) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${path} cannot be read as the simulator's state. Delete or rename it to start with a new state.`)
  }
}

/**
 * Writes the state shortly after it changed, one write at a time. The interval grows with the duration of the last
 * write, so that saving a large state takes only a small part of the time.
 */
export class StateFile {
  #path: string
  #snapshot: () => SavedState
  #onError: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #intervalMs = minIntervalMs
  #closed = false

  constructor(path: string, snapshot: () => SavedState, onError: (error: unknown) => void) {
    this.#path = path
    this.#snapshot = snapshot
    this.#onError = onError
  }

  changed(): void {
    if (this.#closed || this.#timer) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#writing = this.#writing.then(() => this.#write()).catch(this.#onError)
    }, this.#intervalMs)
    this.#timer.unref()
  }

  /** Stops without writing, because the start failed. */
  discard(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  /** Waits for a write in progress, then writes one last time. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#writing
    await mkdir(dirname(this.#path), { recursive: true })
    const next = `${this.#path}.next`
    writeFileSync(next, this.#text(), { mode: 0o600 })
    renameSync(next, this.#path)
  }

  async #write(): Promise<void> {
    const startedAt = performance.now()
    const next = `${this.#path}.next`
    await mkdir(dirname(this.#path), { recursive: true })
    await writeFile(next, this.#text(), { mode: 0o600 })
    await rename(next, this.#path)
    this.#intervalMs = Math.max(minIntervalMs, (performance.now() - startedAt) * 20)
  }

  #text(): string {
    const { world, batches } = this.#snapshot()
    const plain: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(world)) plain[key] = value instanceof Map ? [...value] : value
    plain.messages = [...world.messages].slice(-maxSavedMessages)
    return JSON.stringify({ version, world: plain, batches })
  }
}
