import { readConfig } from '@parley/server/config'
import { startNameServer } from '../../server/testing/name-server.ts'
import { driveEvents } from './lib/drive.ts'
import { putUnderLoad } from './lib/load.ts'
import { numberAt, prepareAt, webhookOf } from './lib/prepare.ts'
import type { Scope } from './lib/scope.ts'
import type { Row } from './lib/table.ts'

const hanging = 20
const fresh = 20
const pace = 10

/**
 * Twenty endpoints at names that were never looked up, first alone, then next to twenty other endpoints whose name
 * servers never respond: the time until the first delivery arrives.
 */
export async function benchHangingNames(scope: Scope): Promise<Row[]> {
  const dataDir = scope.newFolder()
  const receiver = await scope.startTarget('receiver')
  const nameServer = await startNameServer()
  scope.defer(() => nameServer.close())
  // Every name is resolved while the endpoints are created, because a name that hangs cannot be saved.
  nameServer.unlisted = ['127.0.0.1']
  const names = [
    ...Array.from({ length: fresh * 2 }, (_, index) => `new-${index}.example`),
    ...Array.from({ length: hanging }, (_, index) => `hanging-${index}.example`),
  ]
  const hookUrls = names.map((name) => `http://${name}:${receiver.port}/`)
  const config = readConfig({ PARLEY_DATA_DIR: dataDir, PARLEY_DNS_SERVERS: nameServer.address })
  const { appId } = await prepareAt(config, { hookUrls })
  for (const name of names) if (name.startsWith('hanging')) nameServer.names.set(name, 'hang')
  const target = await scope.startTarget('parley', `${dataDir} ${nameServer.address}`)
  const measure = (first: number) => {
    const requests = Array.from({ length: fresh }, (_, index) => webhookOf(appId, index, 1, numberAt(first + index)))
    return driveEvents(scope, target, receiver, { requests, events: fresh, connections: 4, pace })
  }
  const alone = await measure(0)
  const requests = Array.from({ length: hanging }, (_, index) =>
    webhookOf(appId, fresh * 2, 100, numberAt(fresh * 2 + index)),
  )
  await putUnderLoad({ port: target.port, connections: 4, seconds: 30, requests, once: true })
  const together = await measure(fresh)
  const what = `${fresh} endpoints at new names, ${hanging} names hang`
  return [
    { what: `${what}, p50`, unit: 'ms', rounds: [together.p50Ms], base: { name: 'alone', rounds: [alone.p50Ms] } },
    { what: `${what}, max`, unit: 'ms', rounds: [together.maxMs], base: { name: 'alone', rounds: [alone.maxMs] } },
  ]
}
