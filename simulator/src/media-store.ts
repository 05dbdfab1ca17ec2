import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where the bytes of media live: in memory, or in a folder beside the state file. */
export interface MediaStore {
  put(id: string, bytes: Buffer): void
  get(id: string): Buffer | undefined
  remove(id: string): void
  clear(): void
}

export function memoryStore(): MediaStore {
  const files = new Map<string, Buffer>()
  return {
    put: (id, bytes) => void files.set(id, bytes),
    get: (id) => files.get(id),
    remove: (id) => void files.delete(id),
    clear: () => files.clear(),
  }
}

/** Ids are made here and are digits only, so they are safe as file names. */
export function folderStore(folder: string): MediaStore {
  return {
    put(id, bytes) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      writeFileSync(join(folder, id), bytes, { mode: 0o600 })
    },
    get(id) {
      try {
        return readFileSync(join(folder, id))
      } catch {
        return undefined
      }
    },
    remove: (id) => rmSync(join(folder, id), { force: true }),
    clear: () => rmSync(folder, { recursive: true, force: true }),
  }
}
