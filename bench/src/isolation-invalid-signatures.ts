import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Measured, putUnderLoad } from './load.ts'
import { prepare, webhookOf } from './prepare.ts'
import { startTarget, type Target } from './process.ts'

const pace = 50
const seconds = 8
const rounds = 3

/**
 * Correctly signed webhooks at a steady pace, alone and next to a flood of wrongly signed ones of 1 MiB, in turn. The flood comes
 * from another address, and then from the same one, as it seems behind a proxy that is not in PARLEY_TRUST_PROXY.
 */
export async function benchInvalidSignatures(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const appId = await prepare(dataDir, ['http://127.0.0.1:9/'])
  const target = await startTarget('parley', dataDir)
  try {
    await measure(target, appId)
    console.log(`${pace} webhooks/s next to 32 connections with wrongly signed bodies of 1 MiB, up to 300/s`)
    for (let round = 1; round <= rounds; round++) {
      report(`round ${round}  alone`, await measure(target, appId))
      for (const address of ['127.0.0.2', '127.0.0.1']) {
        const from = address === '127.0.0.1' ? 'the same address' : 'another address'
        const flood = join(import.meta.dirname, 'flood.ts')
        const child = spawn(process.execPath, [flood, String(target.port), appId, address], { stdio: 'inherit' })
        await sleep(2000)
        report(`round ${round}  flood from ${from}`, await measure(target, appId))
        child.kill()
        await once(child, 'exit')
        await sleep(2000)
      }
    }
  } finally {
    await target.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

function measure(target: Target, appId: string): Promise<Measured> {
  const requests = Array.from({ length: pace * seconds }, (_, index) => webhookOf(appId, index, 1))
  return putUnderLoad({ port: target.port, connections: 8, seconds: 60, requests, once: true, pace })
}

function report(name: string, { p50Ms, p99Ms, statuses }: Measured): void {
  console.log(
    `  ${name.padEnd(36)} p50 ${p50Ms.toFixed(1)} ms  p99 ${p99Ms.toFixed(1)} ms  ${JSON.stringify(statuses)}`,
  )
}
