import { setTimeout as sleep } from 'node:timers/promises'
import { newFolder } from '../../../server/testing/data-dir.ts'
import { until } from '../../../server/testing/until.ts'
import {
  createWorkspace,
  type NpmStart,
  processes,
  signalAll,
  spawnNpmStart,
  untilReady,
  workspaceNames,
} from '../lib/npm-start.ts'
import { attempt } from '../lib/run-scenario.ts'
import type { Scenario } from '../lib/scenario.ts'

const rounds = 10
const victims = ['all', 'npm', 'service'] as const

/** `npm start` is killed at random moments. In every second round a command writes at the same time. */
export const scenario: Scenario = {
  name: 'npm-start-killed',
  wanted: 'no acknowledged write is lost, and the next start is ready',
  async run(say) {
    const dataDir = newFolder()
    const first = spawnNpmStart(dataDir)
    await untilReady(first)
    await signalAll(first, 'SIGTERM')
    const acknowledged: string[] = []
    for (let round = 0; round < rounds; round++) {
      const service = spawnNpmStart(dataDir)
      const name = `round ${round}`
      const writing = round % 2 ? createWorkspace(dataDir, name) : undefined
      const ms = Math.round(Math.random() * 3_000)
      await sleep(ms)
      const victim = victims[round % victims.length] ?? 'all'
      kill(service, victim)
      await service.ended
      if (await writing) acknowledged.push(name)
      say(`${victim} killed after ${ms} ms`)
    }
    await until('a service that has lost its npm has ended', () => processes().length === 0)
    const service = spawnNpmStart(dataDir)
    const ms = await untilReady(service)
    const names = await workspaceNames(dataDir)
    await signalAll(service, 'SIGTERM')
    const lost = acknowledged.filter((name) => !names.includes(name)).length
    return {
      figure: `${rounds} kills: ${lost} of ${acknowledged.length} writes lost; ready after ${ms} ms`,
      ok: acknowledged.length > 0 && lost === 0,
    }
  },
}

function kill({ child }: NpmStart, victim: (typeof victims)[number]): void {
  const isVictim = (pid: number) => victim === 'all' || (pid === child.pid) === (victim === 'npm')
  for (const pid of processes().filter(isVictim)) attempt(() => process.kill(pid, 'SIGKILL'))
  // If npm had no child yet, npm is killed itself.
  if (processes().every((pid) => pid === child.pid)) child.kill('SIGKILL')
}
