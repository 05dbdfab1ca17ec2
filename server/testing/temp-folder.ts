import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { isPostgresOn } from '../src/db/embedded/processes.ts'
import { newFolder, postmasterPid, removeFolder } from './data-dir.ts'

/**
 * A folder for one test. It is removed at the end, and a PostgreSQL that a failed test left running in it is killed.
 */
export function tempFolder(): string {
  const folder = newFolder()
  onTestFinished(() => {
    for (const dataDir of [folder, ...readdirSync(folder).map((name) => join(folder, name))]) {
      const pid = postmasterPid(dataDir)
      if (pid && isPostgresOn(pid, join(dataDir, 'postgres'))) process.kill(pid, 'SIGKILL')
    }
    removeFolder(folder)
  })
  return folder
}
