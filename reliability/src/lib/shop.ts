import { setTimeout as sleep } from 'node:timers/promises'
import { eventTypes } from '@parley/contract/events'
import { scopes } from '@parley/contract/scopes'
import type { Connection } from '@parley/server/db/db'
import { giveCredits } from '@parley/server/domain/credits/credits'
import { createKey } from '@parley/server/domain/keys/keys'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { systemClock } from '@parley/server/lib/clock'
import { localRules } from '../../../server/testing/deliveries.ts'
import type { ServiceProcess } from '../../../server/testing/service.ts'
import { secretKeys } from '../../../server/testing/service.ts'
import { openProcessShop } from '../../../server/testing/shop-process.ts'
import { openReceiver } from './counting-receiver.ts'
import { inboundWebhook, newWamid, postWebhook } from './network-posts.ts'
import { findLedgerProblems, findLost, findSentTwice, waitUntilDrained } from './proofs.ts'

/** Settings of services whose endpoints are on this machine. */
export const localEndpoints = { PARLEY_WEBHOOK_ALLOW_HTTP: 'true', PARLEY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }

/** Longer than the lease of a call, after which the message of a killed process counts as unknown. */
const drainMs = 120_000

export type LoadedShop = Awaited<ReturnType<typeof openShop>>

/** A workspace with one endpoint that sends and receives, what was acknowledged, and proof that it was kept. */
export async function openShop(connection: Connection) {
  const shop = await openProcessShop(connection)
  const { db, control, workspaceId, app, phoneNumberId } = shop
  const receiver = await openReceiver()
  const input = { workspaceId, name: 'shop', url: receiver.urlOf('shop'), events: eventTypes }
  const { webhook } = await createWebhook(db, systemClock, secretKeys, localRules, input)
  const endpoint = { id: webhook.id, workspaceId, path: 'shop', events: new Set<string>(eventTypes) }
  await giveCredits(db, systemClock, workspaceId, 100_000, 'load')
  // Each key may make 100 requests a minute.
  const keys: string[] = []
  for (let n = 0; n < 40; n++) {
    const key = { workspaceId, name: `load ${n}`, scopes, rateLimitPerMin: 100, createdBy: 'load' }
    keys.push((await createKey(db, systemClock, key)).secret)
  }
  const acknowledged = new Set<string>()
  const accepted = new Set<string>()
  let sends = 0
  return {
    ...shop,
    receiver,
    start: (env: Record<string, string> = {}): Promise<ServiceProcess> => shop.start({ ...localEndpoints, ...env }),
    /** Receives some messages. Returns whether they were acknowledged. */
    async receive(url: string, count = 5): Promise<boolean> {
      const wamids = Array.from({ length: count }, newWamid)
      if ((await postWebhook(app, url, inboundWebhook(phoneNumberId, wamids))) !== 200) return false
      for (const id of wamids) acknowledged.add(id)
      return true
    },
    /** Sends a message. Returns whether it was accepted. */
    async send(url: string): Promise<boolean> {
      const n = sends++
      try {
        const { status, body } = await shop.sendText({ url }, String(16_505_000_000 + n), keys[n % keys.length])
        if (status === 202) accepted.add((body as { id: string }).id)
        return status === 202
      } catch {
        return false
      }
    },
    /** Waits until everything has been delivered, and returns what is wrong. `on` is the database to look at. */
    async prove(say: (line: string) => void, on = db): Promise<{ problems: string[]; summary: string }> {
      await control.idle()
      const isDrained = await waitUntilDrained(on, drainMs, say)
      const { lost, expected } = await findLost(on, receiver, [endpoint], acknowledged)
      const { twice } = findSentTwice(control)
      const problems = [...lost, ...twice, ...(await findLedgerProblems(on, accepted))]
      if (!isDrained) problems.unshift(`deliveries or messages were left after ${drainMs / 1000} seconds`)
      for (const problem of problems.slice(0, 20)) say(problem)
      const summary = `${problems.length === 0 ? 'none' : `${problems.length} problems`} of ${expected} deliveries and ${accepted.size} sends lost or sent twice`
      return { problems, summary }
    },
    async close() {
      receiver.close()
      await shop.close()
    },
  }
}

/** Repeats `work` until it succeeds, and returns after how many seconds; `limitMs` if it does not. */
export async function secondsUntil(work: () => Promise<boolean>, limitMs = 60_000): Promise<number> {
  const began = performance.now()
  while (performance.now() - began < limitMs) {
    if (await work()) break
    await sleep(50)
  }
  return (performance.now() - began) / 1000
}

export const list = (seconds: readonly number[]): string => seconds.map((each) => each.toFixed(1)).join(', ')

export const isReady = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false
  }
}
