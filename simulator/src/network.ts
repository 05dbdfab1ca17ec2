import type { Timers } from './clock.ts'
import type { MediaStore } from './media-store.ts'
import type { Limits } from './network/limits.ts'
import type { NetworkLog } from './network-log.ts'
import type { Destination } from './webhooks/batch.ts'
import type { Update } from './webhooks/envelope.ts'
import type { HttpClient } from './webhooks/http-client.ts'
import type { WebhookQueue } from './webhooks/queue.ts'
import type { World } from './world.ts'

/** The running network: state, timers, log and queues. */
export interface Network {
  world: World
  timers: Timers
  log: NetworkLog
  queue: WebhookQueue
  http: HttpClient
  limits: Limits
  media: MediaStore
  /** The simulator's base URL, for media links. */
  url: string
  /** Schedules a write of the state file. */
  changed: () => void
}

/** The callback for an update: the number's, else the account's for this app, else the app's. The latter, for one about the account. */
export function destinationOf(world: World, update: Update): Destination | undefined {
  const app = world.apps.get(update.appId)
  if (!app) return undefined
  const number = update.numberId ? world.numbers.get(update.numberId) : undefined
  const override =
    update.numberId !== null
      ? (number?.override ?? world.wabas.get(update.wabaId)?.subscriptions[app.id]?.override)
      : undefined
  const url = override?.url ?? app.callbackUrl
  return url ? { url, secret: app.secret } : undefined
}

/** Resolves when no webhook is being posted and no timer is due. */
export async function idle(network: Network): Promise<void> {
  for (let idleTurns = 0; idleTurns < 3; ) {
    await new Promise((resolve) => setImmediate(resolve))
    idleTurns = network.queue.busy || network.timers.due > 0 ? 0 : idleTurns + 1
  }
}
