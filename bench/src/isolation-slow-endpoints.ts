import { readConfig } from '@parley/server/config'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { systemClock } from '@parley/server/lib/clock'
import { driveEvents } from './lib/drive.ts'
import { putUnderLoad } from './lib/load.ts'
import { numberAt, prepare, webhookOf, webhooksOf } from './lib/prepare.ts'
import type { Scope } from './lib/scope.ts'
import { nextToOthers, type Row } from './lib/table.ts'

const slowEndpoints = 64
const slowMs = 9_000
const slowPace = 20
const pace = 5
const seconds = 30

/** A workspace with 64 endpoints that respond after nine seconds, next to another workspace: 20 and 5 messages per second. */
export async function benchSlowEndpoints(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const receiver = await scope.startTarget('receiver')
  const slow = await scope.startTarget('slow-receiver', String(slowMs))
  const slowUrl = `http://127.0.0.1:${slow.port}/`
  const { appId, workspaces } = await prepare(dataDir, { hookUrls: [`http://127.0.0.1:${receiver.port}/`, slowUrl] })
  await scope.part((part) => addEndpoints(part, dataDir, workspaces[1]?.id ?? '', slowUrl))
  const target = await scope.startTarget('parley', dataDir)
  const events = pace * seconds
  const measure = () =>
    driveEvents(scope, target, receiver, { requests: webhooksOf(appId, events, 1), events, connections: 4, pace })
  await measure()
  const alone = await measure()
  const requests = Array.from({ length: slowPace * (seconds + 10) }, () => webhookOf(appId, 0, 1, numberAt(1)))
  const load = { port: target.port, connections: 8, seconds: 120, requests, once: true, pace: slowPace }
  const loading = putUnderLoad(load)
  await new Promise((resolve) => setTimeout(resolve, 5_000))
  const together = await measure()
  await loading
  const what = `a workspace at ${pace} messages/s, another with ${slowEndpoints} slow endpoints at ${slowPace}/s`
  return nextToOthers(what, alone, together)
}

/** Adds the other endpoints of the second workspace. */
async function addEndpoints(scope: Scope, dataDir: string, workspaceId: string, url: string): Promise<void> {
  const config = readConfig({ PARLEY_DATA_DIR: dataDir })
  const { db } = await scope.openStore(dataDir)
  const endpoint = { workspaceId, name: 'slow', url, events: ['message.received'] }
  for (let index = 1; index < slowEndpoints; index++) {
    await createWebhook(db, systemClock, config.secretKeys(), config.targetRules, endpoint)
  }
}
