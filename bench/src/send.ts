import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@parley/server/config'
import { openStore } from '@parley/server/db/store'
import { createApp } from '@parley/server/domain/connections/apps'
import { giveCredits } from '@parley/server/domain/credits/credits'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import { newLogger } from '@parley/server/lib/logger'
import { seal } from '@parley/server/lib/seal'
import { putUnderLoad } from './load.ts'
import { startTarget, type Target } from './process.ts'

const workspaceCount = 20
/** Each key has a rate limit of 100 requests a minute; with this many keys none exceeds it. */
const keysEach = 40
const connections = 32
const seconds = Number(process.env.BENCH_SECONDS ?? 5)
const pacePerSecond = Number(process.env.BENCH_PACE ?? 200)
const warmUpSeconds = 1

/**
 * Sends of twenty workspaces, each with its own number: how many per second are accepted (message, debit and outbox
 * committed) and, at a pace within the numbers' throughput, how long after the response WhatsApp is called.
 */
export async function benchSend(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'parley-bench-'))
  const network = await startNetwork()
  try {
    const secrets = await prepare(dataDir, network.url)
    const target = await startTarget('parley', dataDir)
    try {
      await measureCalls(target.port, secrets.slice(0, secrets.length / 2), network.calledAt)
      await measurePeak(target, secrets.slice(secrets.length / 2), network.calledAt)
    } finally {
      await target.stop()
    }
  } finally {
    network.server.close()
    network.server.closeAllConnections()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function measurePeak(target: Target, secrets: readonly string[], calledAt: ReadonlyMap<string, number>) {
  const { port } = target
  const before = { calls: calledAt.size, process: target.cpuUs(), all: target.treeCpuUs() }
  const requests = Array.from({ length: secrets.length * 99 }, (_, n) =>
    requestOf(secrets[n % secrets.length] ?? '', n),
  )
  const peak = await putUnderLoad({ port, connections, seconds, requests, once: true })
  const { perSecond, p50Ms, p99Ms, statuses } = peak
  console.log(
    `accepted  ${perSecond.toFixed(0).padStart(6)} sends/s   p50 ${p50Ms.toFixed(1)} ms  p99 ${p99Ms.toFixed(1)} ms  ${JSON.stringify(statuses)}`,
  )
  const accepted = statuses['202'] ?? 0
  const inProcess = target.cpuUs() - before.process
  const inDatabase = target.treeCpuUs() - before.all - inProcess
  const each = (cpuUs: number) => (cpuUs / accepted).toFixed(0)
  console.log(`          ${String(calledAt.size - before.calls).padStart(6)} calls reached WhatsApp meanwhile`)
  console.log(
    `          CPU per accepted send, with these calls: ${each(inProcess)} µs in the process, ${each(inDatabase)} µs in PostgreSQL`,
  )
}

/** Sends messages one by one; the times of response and call are from the same clock. */
async function measureCalls(port: number, secrets: readonly string[], calledAt: ReadonlyMap<string, number>) {
  const respondedAt = new Map<string, number>()
  const sends: Promise<void>[] = []
  const started = performance.now()
  for (let n = 0; n < pacePerSecond * (warmUpSeconds + seconds); n++) {
    const wait = started + (n / pacePerSecond) * 1000 - performance.now()
    if (wait > 1) await new Promise((resolve) => setTimeout(resolve, wait))
    sends.push(sendOne(port, secrets[n % secrets.length] ?? '', n, respondedAt))
  }
  await Promise.all(sends)
  for (const end = Date.now() + 10_000; calledAt.size < respondedAt.size && Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const measured = [...respondedAt].filter(([, at]) => at > started + warmUpSeconds * 1000)
  const waits = measured.map(([id, at]) => Math.max(0, (calledAt.get(id) ?? Number.NaN) - at))
  const lost = waits.filter(Number.isNaN).length
  const sorted = Float64Array.from(waits.filter((wait) => !Number.isNaN(wait))).sort()
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1)
  console.log(
    `from 202 to the call of WhatsApp, at ${pacePerSecond} sends/s: p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  (${sorted.length} calls, ${lost} missing)`,
  )
}

async function sendOne(port: number, secret: string, n: number, respondedAt: Map<string, number>): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: bodyOf(n),
  })
  const at = performance.now()
  const { id } = (await response.json()) as { id?: string }
  if (id) respondedAt.set(id, at)
}

const bodyOf = (n: number) =>
  JSON.stringify({ to: String(16_505_550_000 + n), type: 'text', text: { body: 'Your parcel has arrived.' } })

function requestOf(secret: string, n: number): Buffer {
  const body = bodyOf(n)
  return Buffer.from(
    `POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** A network API that accepts every message and records when. */
async function startNetwork(): Promise<{ url: string; server: Server; calledAt: Map<string, number> }> {
  const calledAt = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const at = performance.now()
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { biz_opaque_callback_data: id } = JSON.parse(Buffer.concat(parts).toString()) as Record<string, string>
    calledAt.set(String(id), at)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ messaging_product: 'whatsapp', messages: [{ id: `wamid.${id}` }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, calledAt }
}

async function prepare(dataDir: string, graphUrl: string): Promise<string[]> {
  const config = readConfig({ PARLEY_DATA_DIR: dataDir })
  const store = await openStore(config, { purpose: 'visitor', schema: 'migrate', log: newLogger('silent') })
  try {
    const { db } = store
    const now = systemClock.now()
    const input = { name: 'bench', appSecret: 'bench-app-secret', verifyToken: 'bench', graphUrl }
    const app = await createApp(db, systemClock, config.secretKeys(), input)
    const secrets: string[][] = []
    for (let n = 0; n < workspaceCount; n++) {
      const { id: workspaceId } = await createWorkspace(db, systemClock, `bench ${n}`)
      await giveCredits(db, systemClock, workspaceId, 1_000_000, 'bench')
      const connectionId = newUuid()
      const token = seal(config.secretKeys(), 'token', `connections/${connectionId}/access_token`)
      await db.change(
        `insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
         values ($1, $2, $3, $4, $5, $6, 'infinity')`,
        [connectionId, workspaceId, app.id, String(n), token, now],
      )
      await db.change(
        `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, status,
           quality_rating, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $5, 'CONNECTED', 'GREEN', $6, $6)`,
        [newUuid(), workspaceId, connectionId, app.id, `9000000000${String(n).padStart(5, '0')}`, now],
      )
      const workspaceSecrets: string[] = []
      for (let k = 0; k < keysEach; k++) {
        const key = {
          workspaceId,
          name: `bench ${k}`,
          scopes: ['messages:send'] as const,
          budget: 100,
          createdBy: 'bench',
        }
        workspaceSecrets.push((await createKey(db, systemClock, { ...key, scopes: [...key.scopes] })).secret)
      }
      secrets.push(workspaceSecrets)
    }
    // Interleaves the keys of all workspaces, so that every part of the list has keys of all of them.
    return Array.from({ length: keysEach }, (_, k) => secrets.map((keys) => keys[k] ?? '')).flat()
  } finally {
    await store.close()
  }
}
