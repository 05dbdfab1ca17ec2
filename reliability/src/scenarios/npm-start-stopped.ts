import { setTimeout as sleep } from 'node:timers/promises'
import { newFolder } from '../../../server/testing/data-dir.ts'
import { postgresOf, signalAll, spawnNpmStart, untilReady } from '../lib/npm-start.ts'
import type { Scenario } from '../lib/scenario.ts'

const rounds = 6
const stopWithinMs = 15_000

/** SIGTERM, or Ctrl-C, at random moments while `npm start` starts or runs. */
export const scenario: Scenario = {
  name: 'npm-start-stopped',
  wanted: 'ends within 15 s of SIGTERM or Ctrl-C, and PostgreSQL ends too',
  async run(say) {
    const dataDir = newFolder()
    const first = spawnNpmStart(dataDir)
    await untilReady(first)
    await signalAll(first, 'SIGTERM')
    const times: number[] = []
    let problems = 0
    for (let round = 0; round < rounds; round++) {
      const service = spawnNpmStart(dataDir)
      await sleep(Math.random() * 3_000)
      const wasReady = service.output().includes('Ready at')
      const signal = round % 2 ? 'SIGTERM' : 'SIGINT'
      const began = performance.now()
      await signalAll(service, signal)
      const ms = Math.round(performance.now() - began)
      const isClean = postgresOf(dataDir) === undefined && (!wasReady || service.output().endsWith('Stopped.\n'))
      say(`${signal} ${wasReady ? 'while running' : 'while starting'}: ended after ${ms} ms`)
      if (!isClean) say(`PostgreSQL still runs, or it printed: ${service.output()}`)
      if (!isClean) problems++
      times.push(ms)
    }
    return {
      figure: `ended after ${Math.max(...times)} ms at most; ${problems} of ${rounds} times PostgreSQL or its output was wrong`,
      ok: problems === 0 && Math.max(...times) < stopWithinMs,
    }
  },
}
