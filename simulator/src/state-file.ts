import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Batch } from './webhooks/batch.ts'
import { emptyWorld, type World } from './world.ts'

/** The world and the webhooks still to be taken, as one JSON file. */
export interface Saved {
  world: World
  batches: Batch[]
}

const version = 1
const savedMessages = 2_000
const calmMs = 250

export function readState(path: string): Saved | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const saved = parse(path, text)
  if (saved.version !== version) throw new Error(`${path} was written by another version of the simulator.`)
  const world = emptyWorld() as unknown as Record<string, unknown>
  for (const [key, value] of Object.entries(saved.world))
    world[key] = world[key] instanceof Map ? new Map(value as [string, unknown][]) : value
  return { world: world as unknown as World, batches: saved.batches }
}

function parse(path: string, text: string) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error(`${path} cannot be read as the simulator's state. Move it away to start anew.`)
  }
}

/**
 * Writes the state a moment after it changed, and never twice at once. A write that takes long is followed by a longer
 * rest, so that saving stays a small part of the work however large the world grows.
 */
export class StateFile {
  #path: string
  #collect: () => Saved
  #failed: (error: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #restMs = calmMs
  #closed = false

  constructor(path: string, collect: () => Saved, failed: (error: unknown) => void) {
    this.#path = path
    this.#collect = collect
    this.#failed = failed
  }

  changed(): void {
    if (this.#closed || this.#timer) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#writing = this.#writing.then(() => this.#write()).catch(this.#failed)
    }, this.#restMs)
    this.#timer.unref()
  }

  /** Writes no more: the world it would write never came to be. */
  abandon(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }

  /** Waits for a write under way, then writes for the last time. */
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
    this.#restMs = Math.max(calmMs, (performance.now() - startedAt) * 20)
  }

  #text(): string {
    const { world, batches } = this.#collect()
    const plain: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(world)) plain[key] = value instanceof Map ? [...value] : value
    plain.messages = [...world.messages].slice(-savedMessages)
    return JSON.stringify({ version, world: plain, batches })
  }
}
