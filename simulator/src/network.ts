import type { Timers } from './clock.ts'
import type { MediaStore } from './media-store.ts'
import type { Limits } from './network/limits.ts'
import type { NetworkLog } from './network-log.ts'
import type { Destination } from './webhooks/batch.ts'
import type { Update } from './webhooks/envelope.ts'
import type { Outlet } from './webhooks/post.ts'
import type { WebhookQueue } from './webhooks/queue.ts'
import type { World } from './world.ts'

/** The running network, handed to whatever acts in it. */
export interface Network {
  world: World
  timers: Timers
  log: NetworkLog
  queue: WebhookQueue
  outlet: Outlet
  limits: Limits
  media: MediaStore
  /** Its own address, for links to media. */
  url: string
  /** Says that something worth writing down has happened. */
  changed: () => void
}

/** Where an update goes: the number's own callback, else the account's for this app, else the app's. */
export function destinationOf(world: World, update: Update): Destination | undefined {
  const app = world.apps.get(update.appId)
  if (!app) return undefined
  const number = update.numberId ? world.numbers.get(update.numberId) : undefined
  const override =
    update.field === 'messages'
      ? (number?.override ?? world.wabas.get(update.wabaId)?.subscriptions[app.id]?.override)
      : undefined
  const url = override?.url ?? app.callbackUrl
  return url ? { url, secret: app.secret } : undefined
}

/** Nothing is being posted and nothing is due: what was asked so far has had its effect. */
export async function idle(network: Network): Promise<void> {
  for (let quietTurns = 0; quietTurns < 3; ) {
    await new Promise((resolve) => setImmediate(resolve))
    quietTurns = network.queue.busy || network.timers.due > 0 ? 0 : quietTurns + 1
  }
}
