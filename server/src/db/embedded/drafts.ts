import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from './processes.ts'

/** No draft takes this long to finish. After that, the process ID in the name belongs to another program. */
const maxAgeMs = 600_000

/**
 * Files and directories that take several steps to create are named `….draft-<process ID>` until they are complete.
 * This removes the drafts of processes that have ended. A draft that cannot be removed yet, because a child of the dead
 * process is still writing to it, is removed at a later start.
 */
export function removeDrafts(folder: string): void {
  if (!existsSync(folder)) return
  for (const name of readdirSync(folder)) {
    const pid = Number(/\.draft-(\d+)(\.password)?$/.exec(name)?.[1])
    if (!pid || pid === process.pid) continue
    const path = join(folder, name)
    const stats = lstatSync(path, { throwIfNoEntry: false })
    if (!stats || (isAlive(pid) && Date.now() - stats.mtimeMs < maxAgeMs)) continue
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {}
  }
}
