import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import { startNameServer } from '../../server/testing/name-server.ts'
import { allArrivals } from './arrivals.ts'
import { putUnderLoad } from './load.ts'
import { numberAt, prepareAt, webhookOf } from './prepare.ts'
import { startTarget, type Target } from './process.ts'

const hanging = 20
const fresh = 20
const pace = 10

/**
 * Twenty endpoints at names that were never looked up, first alone, then next to twenty other endpoints whose name
 * servers never respond: the time until the first delivery arrives.
 */
export async function benchHangingNames(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const receiver = await startTarget('receiver')
  const nameServer = await startNameServer()
  // Every name is answered while the endpoints are created, because a name that hangs cannot be saved.
  nameServer.unlisted = ['127.0.0.1']
  const names = [
    ...Array.from({ length: fresh * 2 }, (_, index) => `new-${index}.example`),
    ...Array.from({ length: hanging }, (_, index) => `hanging-${index}.example`),
  ]
  const urls = names.map((name) => `http://${name}:${receiver.port}/`)
  const config = readConfig({ PARLEY_DATA_DIR: dataDir, PARLEY_DNS_SERVERS: nameServer.address })
  const { appId } = await prepareAt(config, urls)
  for (const name of names) if (name.startsWith('hanging')) nameServer.names.set(name, 'hang')
  const target = await startTarget('parley', `${dataDir} ${nameServer.address}`)
  try {
    const alone = await measure(target, receiver, appId, 0)
    const requests = Array.from({ length: hanging }, (_, index) =>
      webhookOf(appId, fresh * 2, 100, numberAt(fresh * 2 + index)),
    )
    await putUnderLoad({ port: target.port, connections: 4, seconds: 30, requests, once: true })
    const together = await measure(target, receiver, appId, fresh)
    console.log(`${fresh} endpoints at new names, one message each, from ingress to receiver`)
    console.log(`  alone                      ${format(alone)}`)
    console.log(`  with ${hanging} hanging names      ${format(together)}`)
  } finally {
    await target.stop()
    await receiver.stop()
    nameServer.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

interface Times {
  p50Ms: number
  maxMs: number
  missing: number
}

const format = ({ p50Ms, maxMs, missing }: Times) =>
  `p50 ${p50Ms.toFixed(1)} ms  max ${maxMs.toFixed(1)} ms  missing after 30 s: ${missing}`

async function measure(target: Target, receiver: Target, appId: string, first: number): Promise<Times> {
  const requests = Array.from({ length: fresh }, (_, index) => webhookOf(appId, index, 1, numberAt(first + index)))
  const started = performance.timeOrigin + performance.now()
  await putUnderLoad({ port: target.port, connections: 4, seconds: 30, requests, once: true, pace })
  const { times } = await allArrivals(receiver, fresh)
  const sorted = times.map((time, number) => time - started - (number / pace) * 1000).sort((a, b) => a - b)
  return {
    p50Ms: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    maxMs: sorted.at(-1) ?? Number.NaN,
    missing: fresh - times.length,
  }
}
