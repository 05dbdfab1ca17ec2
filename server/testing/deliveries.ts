import { eventTypes } from '@parley/contract/events'
import { afterAll, beforeAll } from 'vitest'
import { DeliveryWorker } from '../src/domain/deliveries/engine/worker.ts'
import { createWebhook } from '../src/domain/webhooks/webhooks.ts'
import type { Clock } from '../src/lib/clock.ts'
import { type AddressRange, readRange } from '../src/net/addresses.ts'
import { newOutbound, type OutboundOptions } from '../src/net/outbound.ts'
import type { TargetRules } from '../src/net/target-guard.ts'
import { newApp, newSender, text, webhookOf } from './network-app.ts'
import type { Receiver } from './receiver.ts'
import type { TestServer } from './test-server.ts'
import { newWorkspace, type TestWorkspace } from './workspace.ts'

/** Accepts every URL. For tests that deliver nothing. */
export const anyTarget: TargetRules = {
  allowHttp: true,
  allowRanges: [],
  resolve: async () => [{ address: '93.184.216.34', family: 4 }],
}

export const loopback = ['127.0.0.0/8', '::1/128'].map((range) => readRange(range) as AddressRange)

/** Allows the receivers of tests, which listen on loopback. */
export const localRules: TargetRules = { allowHttp: 'loopback', allowRanges: loopback }

/** Starts a delivery worker for the test server. Events that are published from then on are delivered. */
export function useDeliveryWorker(
  server: TestServer,
  options: Partial<OutboundOptions> = {},
): { worker: DeliveryWorker } {
  const opened = {} as { worker: DeliveryWorker }
  beforeAll(() => {
    opened.worker = newDeliveryWorker(server, options)
  })
  afterAll(() => opened.worker.stop(0))
  return opened
}

/** The deadlines are as in production: on a busy machine shorter ones cause retries, and tests count the attempts. */
export function newDeliveryWorker(
  { db, clock, secretKeys, runtime: { log } }: Omit<TestServer, 'clock'> & { clock: Clock },
  options: Partial<OutboundOptions> = {},
): DeliveryWorker {
  const outbound = newOutbound({ ...localRules, ca: null, deadlineMs: 10_000, bodyDeadlineMs: 10_000, ...options })
  return new DeliveryWorker({ db, clock, log, secretKeys, outbound, productVersion: 'test' })
}

/** The events of messages and forms. */
const messageEvents = eventTypes.filter((type) => /^(message|flow)\./.test(type))

let numbers = 0

/** A workspace with a number that receives messages. */
export interface Line {
  workspace: TestWorkspace
  /** Receives `count` messages in one webhook of the network. `url` can name another process. */
  write(count?: number, url?: string): Promise<void>
  /** Creates a webhook endpoint for a receiver. */
  listen(
    receiver: Pick<Receiver, 'url'>,
    events?: readonly string[],
    rules?: TargetRules,
  ): Promise<{ id: string; secret: string }>
}

export async function newLine(server: TestServer): Promise<Line> {
  const workspace = await newWorkspace(server)
  const app = await newApp(server)
  const sender = await newSender(server, workspace.id, app.id, String(77_000_000_000 + ++numbers))
  let messages = 0
  return {
    workspace,
    async write(count = 1, url = server.url) {
      const texts = Array.from({ length: count }, () => text(`wamid.${sender.id}.${++messages}`, `message ${messages}`))
      const status = await app.post(webhookOf(sender.phoneNumberId, texts), { url })
      if (status !== 200) throw new Error(`the webhook ingress responded with ${status}`)
    },
    async listen({ url }, events = messageEvents, rules = localRules) {
      const { db, clock, secretKeys } = server
      const input = { workspaceId: workspace.id, name: 'receiver', url, events }
      const { webhook, secret } = await createWebhook(db, clock, secretKeys, rules, input)
      return { id: webhook.id, secret }
    },
  }
}

export interface AttemptRecord {
  at: Date
  event_id: string
  number: number
  trigger: string
  state: string
  address: string | null
  status: number | null
  error: string | null
  answer: Buffer
  duration_us: number
}

export const attemptsOf = (server: TestServer, webhookId: string): Promise<AttemptRecord[]> =>
  server.db.rows('select * from delivery_attempts where webhook_id = $1 order by at, number', [webhookId.slice(4)])

export const openOf = (server: TestServer, webhookId: string): Promise<{ event_id: string; due: string }[]> =>
  server.db.rows('select event_id, due_at::text as due from deliveries where webhook_id = $1 order by event_id', [
    webhookId.slice(4),
  ])
