import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/**
 * The content of a private file, made on first use. The file appears whole or not at all, and of several processes that
 * make it at once all read the same.
 */
export function createOnce(path: string, make: () => string): string {
  if (!existsSync(path)) {
    const draft = `${path}.draft-${process.pid}`
    try {
      writeFileSync(draft, make(), { mode: 0o600, flush: true })
      linkSync(draft, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(draft, { force: true })
    }
  }
  return readFileSync(path, 'utf8').trim()
}
