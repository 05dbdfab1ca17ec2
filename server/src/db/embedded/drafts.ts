import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from './processes.ts'

/** Nothing takes this long to make; the number in the name belongs to another program by then. */
const maxAgeMs = 600_000

/**
 * What is made in several steps is made under a name that ends in `.draft-<process id>` and renamed when it is whole.
 * This removes the drafts whose makers are gone. One that cannot be removed just now (a child of its dead maker may still
 * be writing) is left to the next time.
 */
export function removeDrafts(folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const maker = Number(/\.draft-(\d+)(\.password)?$/.exec(name)?.[1])
    if (!maker || maker === process.pid) continue
    const path = join(folder, name)
    const about = lstatSync(path, { throwIfNoEntry: false })
    if (!about || (isAlive(maker) && Date.now() - about.mtimeMs < maxAgeMs)) continue
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {}
  }
}
