import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { until } from '../../../server/testing/until.ts'
import { runScenario } from './run-scenario.ts'
import { loadScenario, scenarioFiles } from './scenario.ts'

const neverEnds = join(import.meta.dirname, 'testing', 'never-ends.ts')

/** A process that was killed may still wait to be collected by its parent. */
function isRunning(pid: string): boolean {
  const { stdout } = spawnSync('ps', ['-o', 'state=', '-p', pid], { encoding: 'utf8' })
  return stdout.trim() !== '' && !stdout.startsWith('Z')
}

async function expectCleanedUp(lines: readonly string[]): Promise<void> {
  const found = (what: string) => lines.flatMap((line) => (line.startsWith(what) ? [line.slice(what.length + 1)] : []))
  expect(found('process')).toHaveLength(3)
  for (const pid of found('process')) await until(`process ${pid} has ended`, () => !isRunning(pid))
  expect(found('folder')).toHaveLength(1)
  for (const folder of found('folder')) expect(existsSync(folder)).toBe(false)
}

test('a scenario that takes too long has failed, and its processes and data are removed', async () => {
  const lines: string[] = []
  const { signal } = new AbortController()
  const outcome = await runScenario(neverEnds, { limitSeconds: 10, say: (line) => lines.push(line), signal })
  expect(outcome).toEqual({ figure: 'not finished within 10 s', ok: false })
  await expectCleanedUp(lines)
})

test('an interrupted scenario leaves no processes and no data', async () => {
  const lines: string[] = []
  const interrupted = new AbortController()
  const running = runScenario(neverEnds, { say: (line) => lines.push(line), signal: interrupted.signal })
  await until('it runs', () => lines.includes('ready'))
  interrupted.abort('SIGINT')
  expect((await running).ok).toBe(false)
  await expectCleanedUp(lines)
})

test('each scenario is named like its file', async () => {
  for (const file of scenarioFiles()) expect(`${(await loadScenario(file)).name}.ts`).toBe(file.split('/').at(-1))
})
