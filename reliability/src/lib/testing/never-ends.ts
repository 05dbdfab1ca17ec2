import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newFolder } from '../../../../server/testing/data-dir.ts'
import type { Scenario } from '../scenario.ts'

/** Starts a process, one that is stopped, and a PostgreSQL in name only; says where they are, and never ends. */
export const scenario: Scenario = {
  name: 'never-ends',
  wanted: 'to be stopped',
  run: async (say) => {
    const start = (detached: boolean) => {
      const { pid = 0 } = spawn('sleep', ['600'], { detached, stdio: 'ignore' })
      say(`process ${pid}`)
      return pid
    }
    start(false)
    process.kill(start(false), 'SIGSTOP')
    const folder = newFolder()
    mkdirSync(join(folder, 'postgres'))
    writeFileSync(join(folder, 'postgres', 'postmaster.pid'), `${start(true)}\n`)
    say(`folder ${folder}`)
    say('ready')
    await new Promise(() => {})
    return { figure: '', ok: true }
  },
}
