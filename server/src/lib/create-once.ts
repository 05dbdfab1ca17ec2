import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'

/**
 * Returns the content of a private file, which is created on first use. The file is created atomically: if several
 * processes create it at the same time, all of them read the same content.
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
