import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '@parley/server/db/db'
import { disableWebhook, enableWebhook } from '@parley/server/domain/webhooks/webhooks'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import type { Behaviour, CountingReceiver } from '../counting-receiver.ts'
import { inboundWebhook, newWamid, postWebhook } from '../network-posts.ts'
import { persistently } from '../proofs.ts'
import type { Fleet } from './fleet.ts'
import type { LimitedResponse } from './rate-limits.ts'
import type { Tenant, Tenants } from './tenants.ts'

/** How often each kind of request is made. Two cores carry this with ten processes, PostgreSQL, the network and all receivers. */
const everyMs = { inbound: 100, send: 500, form: 3_000, disabling: 3_000, limited: 10_000 }
/** How many of each may be in progress. On a slow machine there is less traffic then, instead of requests that all time out. */
const atOnce = { inbound: 20, send: 20, form: 10, disabling: 5, limited: 1 }
const disabledMs = 6_000
/** One in so many endpoints that are disabled stays disabled. */
const forGoodEvery = 10
/** Requests of one burst for each key and process. */
const burst = 4

/** What happened, to be compared with what was stored and delivered. */
export interface Traffic {
  acknowledged: Set<string>
  accepted: Set<string>
  /** The message IDs that were returned for an Idempotency-Key. */
  byIdempotencyKey: Map<string, Set<string>>
  formsFilled: number
  limited: LimitedResponse[]
  disabledForGood: Set<string>
  /** Requests that failed in a way that no fault explains. */
  problems: string[]
  /** Ends it, and waits for the requests in progress. */
  stop(): Promise<void>
}

export function startTraffic(db: Database, fleet: Fleet, tenants: Tenants, receiver: CountingReceiver): Traffic {
  const { all, app, limitedKeys } = tenants
  const { control } = tenants.simulator
  const running = new Set<Promise<void>>()
  let isOver = false
  let people = 0
  const traffic: Traffic = {
    acknowledged: new Set(),
    accepted: new Set(),
    byIdempotencyKey: new Map(),
    formsFilled: 0,
    limited: [],
    disabledForGood: new Set(),
    problems: [],
    async stop() {
      isOver = true
      for (const timer of timers) clearInterval(timer)
      await Promise.all(running)
      for (const { path } of all.flatMap(({ endpoints }) => endpoints)) receiver.behave(path, null)
    },
  }
  const newPerson = () => String(49_170_000_000 + ++people)
  const misbehaving = misbehave(all, receiver)

  async function receiveMessages(): Promise<void> {
    const wamids = Array.from({ length: Math.random() < 0.1 ? 3 : 1 }, newWamid)
    const body = inboundWebhook(pick(all).phoneNumberId, wamids)
    // The network repeats a webhook until it is acknowledged, and sometimes once more.
    while ((await postWebhook(app, fleet.url, body)) !== 200) {
      // Nothing is promised about a webhook that was never acknowledged.
      if (isOver) return
      await sleep(500)
    }
    for (const id of wamids) traffic.acknowledged.add(id)
    if (Math.random() < 0.1) await postWebhook(app, fleet.url, body)
  }

  /** Returns the ID of the message if it was accepted. Without an Idempotency-Key it is sent once, whatever happens. */
  async function send(tenant: Tenant, content: object, idempotencyKey: string | null): Promise<string | null> {
    for (;;) {
      const response = await fetch(`${fleet.next()}/v1/messages`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tenant.key}`,
          'content-type': 'application/json',
          ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
        },
        body: JSON.stringify({ ...content, reference: idempotencyKey ?? 'without key' }),
        signal: AbortSignal.timeout(10_000),
      }).catch(() => null)
      const body = (await response?.json().catch(() => null)) as { id: string } | null
      if (response?.status === 202 && body) {
        traffic.accepted.add(body.id)
        return body.id
      }
      // A process that was frozen while it received a request responds with 408 when it continues.
      if (response && response.status >= 400 && response.status < 500 && ![408, 409, 429].includes(response.status))
        throw new Error(`a send got ${response.status}: ${JSON.stringify(body)}`)
      if (idempotencyKey === null || isOver) return null
      await sleep(500)
    }
  }

  async function sendText(): Promise<void> {
    const idempotencyKey = Math.random() < 0.5 ? newUuid() : null
    const content = { to: newPerson(), type: 'text', text: { body: 'hello' } }
    const tenant = pick(all)
    // Sometimes two processes get the same request at the same time.
    const times = idempotencyKey !== null && Math.random() < 0.2 ? 2 : 1
    const ids = await Promise.all(Array.from({ length: times }, () => send(tenant, content, idempotencyKey)))
    // One that got no response until the end may have been accepted.
    if (idempotencyKey !== null && !ids.includes(null))
      traffic.byIdempotencyKey.set(idempotencyKey, new Set(ids.map(String)))
  }

  async function fillForm(): Promise<void> {
    const tenant = pick(all.filter(({ formTemplate }) => formTemplate !== null))
    const to = newPerson()
    const content = { to, type: 'template', template: { id: tenant.formTemplate } }
    await send(tenant, content, newUuid())
    for (let n = 0; n < 120; n++) {
      const [message] = control.phones.messages(to)
      if (message) {
        await control.phones.fillForm(to, { values: { name: 'Ana' } })
        traffic.formsFilled++
        return
      }
      await sleep(1_000)
    }
  }

  async function disableAndEnable(): Promise<void> {
    const { id, path } = pick(all.flatMap(({ endpoints }) => endpoints))
    if (traffic.disabledForGood.has(path)) return
    const isForGood = Math.random() < 1 / forGoodEvery
    if (isForGood) traffic.disabledForGood.add(path)
    await persistently(() => disableWebhook(db, systemClock, id, 'maintenance'))
    await sleep(disabledMs)
    if (!traffic.disabledForGood.has(path)) await persistently(() => enableWebhook(db, systemClock, id))
  }

  async function exceedLimits(): Promise<void> {
    const requests = fleet.members.flatMap(({ service }) =>
      limitedKeys.flatMap((key) => Array.from({ length: burst }, () => ({ key, url: `${service.url}/v1/me` }))),
    )
    await Promise.all(
      requests.map(async ({ key, url }) => {
        const sentMs = Date.now()
        const headers = { authorization: `Bearer ${key}` }
        const response = await fetch(url, { headers, signal: AbortSignal.timeout(20_000) }).catch(() => null)
        await response?.arrayBuffer().catch(() => {})
        traffic.limited.push({
          key,
          sentMs,
          receivedMs: Date.now(),
          status: response?.status ?? 0,
          remaining: Number(response?.headers.get('ratelimit-remaining')),
          resetSeconds: Number(response?.headers.get('ratelimit-reset')),
        })
      }),
    )
  }

  const repeat = (kind: keyof typeof everyMs, work: () => Promise<void>) => {
    let inProgress = 0
    return setInterval(() => {
      if (isOver || inProgress >= atOnce[kind]) return
      inProgress++
      const done = work()
        .catch((error: unknown) => void traffic.problems.push(String(error)))
        .finally(() => {
          inProgress--
          running.delete(done)
        })
      running.add(done)
    }, everyMs[kind])
  }
  const timers = [
    repeat('inbound', receiveMessages),
    repeat('send', sendText),
    repeat('form', fillForm),
    repeat('disabling', disableAndEnable),
    repeat('limited', exceedLimits),
    misbehaving,
  ]
  return traffic
}

const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T

/** Every fiftieth endpoint fails half of the time, is slow, or hangs, and each changes every ten seconds. */
function misbehave(all: readonly Tenant[], receiver: CountingReceiver): NodeJS.Timeout {
  const paths = all.flatMap(({ endpoints }) => endpoints.map(({ path }) => path)).filter((_, index) => index % 50 === 0)
  const change = () => {
    for (const path of paths) {
      receiver.behave(
        path,
        pick<Behaviour | null>([
          null,
          (response) => {
            const isTaken = Math.random() < 0.5
            response.writeHead(isTaken ? 200 : 500).end()
            return isTaken
          },
          (response) => {
            setTimeout(() => response.end(), 2_000)
            return true
          },
          () => false,
        ]),
      )
    }
  }
  change()
  return setInterval(change, 10_000)
}
