import { driveEvents } from './lib/drive.ts'
import { putUnderLoad } from './lib/load.ts'
import { numberAt, prepare, webhookOf, webhooksOf } from './lib/prepare.ts'
import type { Scope } from './lib/scope.ts'
import { numberSetting } from './lib/settings.ts'
import { nextToOthers, type Row } from './lib/table.ts'

const healthy = 50
const waiting = numberSetting('BENCH_WAITING', 50_000)
const pace = 300
const events = 3_000

/** Fifty healthy endpoints at a steady pace, first alone, then with an endpoint that never responds and has 50,000 deliveries waiting. */
export async function benchHangingEndpoint(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const receiver = await scope.startTarget('receiver')
  const hanging = await scope.startTarget('slow-receiver')
  const urlOf = ({ port }: { port: number }) => `http://127.0.0.1:${port}/`
  const hookUrls = [...Array<string>(healthy).fill(urlOf(receiver)), urlOf(hanging)]
  const { appId } = await prepare(dataDir, { hookUrls })
  const target = await scope.startTarget('parley', dataDir)
  const measure = () =>
    driveEvents(scope, target, receiver, {
      requests: webhooksOf(appId, events, 1, healthy),
      events,
      connections: 32,
      pace,
    })
  await measure()
  const alone = await measure()
  const requests = Array.from({ length: Math.ceil(waiting / 100) }, () => webhookOf(appId, 0, 100, numberAt(healthy)))
  await putUnderLoad({ port: target.port, connections: 4, seconds: 120, requests, once: true })
  const together = await measure()
  const what = `${healthy} endpoints at ${pace} events/s, one more hangs with ${waiting.toLocaleString('en-US')} waiting`
  return nextToOthers(what, alone, together)
}
