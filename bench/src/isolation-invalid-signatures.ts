import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inTurn, rowOf } from './lib/in-turn.ts'
import { putUnderLoad } from './lib/load.ts'
import { prepare, webhooksOf } from './lib/prepare.ts'
import type { Scope } from './lib/scope.ts'
import type { Row } from './lib/table.ts'

const pace = 50
const seconds = 8
const rounds = 3
const pauseMs = 2_000
const floods = { 'flood from another address': '127.0.0.2', 'flood from the same address': '127.0.0.1' }

/**
 * Correctly signed webhooks at a steady pace, alone and next to a flood of wrongly signed ones of 1 MiB, in turn. The flood comes
 * from another address, and then from the same one, as it seems behind a proxy that is not in PARLEY_TRUST_PROXY.
 */
export async function benchInvalidSignatures(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const { appId } = await prepare(dataDir, { hookUrls: ['http://127.0.0.1:9/'] })
  const target = await scope.startTarget('parley', dataDir)

  async function measure() {
    const requests = webhooksOf(appId, pace * seconds, 1)
    const load = { port: target.port, connections: 8, seconds: 60, requests, once: true, pace }
    const measured = await putUnderLoad(load)
    const { statuses } = measured
    if (Object.keys(statuses).join() !== '200') scope.fault(`responses ${JSON.stringify(statuses)}`)
    return measured
  }

  async function measureNextTo(name: string) {
    const address = floods[name as keyof typeof floods]
    if (address === undefined) return measure()
    const flood = join(import.meta.dirname, 'targets', 'flood.ts')
    const child = spawn(process.execPath, [flood, String(target.port), appId, address], { stdio: 'inherit' })
    scope.defer(() => child.kill())
    await sleep(pauseMs)
    const measured = await measure()
    child.kill()
    await once(child, 'exit')
    await sleep(pauseMs)
    return measured
  }

  await measure()
  const measured = await inTurn(['alone', ...Object.keys(floods)], rounds, measureNextTo)
  return Object.keys(floods).flatMap((subject) => {
    const what = `${pace} webhooks/s, ${subject}`
    return [
      rowOf(measured, (each) => each.p50Ms, { what: `${what}, p50`, unit: 'ms', subject, base: 'alone' }),
      rowOf(measured, (each) => each.p99Ms, { what: `${what}, p99`, unit: 'ms', subject, base: 'alone' }),
    ]
  })
}
