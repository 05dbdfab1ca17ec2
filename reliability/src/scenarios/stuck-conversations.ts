// An endpoint that keeps the order of conversations has 100,000 of which the first event is retried in an hour, with nine
// events waiting in each. How long do 1,000 messages of 20 people take to another endpoint that keeps the order, and rejects
// every fifth request once, compared with one that does not? With order, a person's messages also wait for the retries of
// those before, one after another: that time is allowed in addition. Takes about two minutes.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, openDatabase } from '@parley/server/db/db'
import { openEmbedded } from '@parley/server/db/embedded/embedded'
import { migrate } from '@parley/server/db/migrate/migrate'
import { ensurePartitions } from '@parley/server/db/partitions'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newFolder, removeFolder } from '../../../server/testing/data-dir.ts'
import { newApp, newSender, text, webhookOf } from '../../../server/testing/network-app.ts'
import { secretKeys, spawnService } from '../../../server/testing/service.ts'
import { localReceivers } from '../../../server/testing/tenants.ts'

const stuck = 100_000
const waitingEach = 9
const people = 20
const messagesEach = 50
const rounds = 5
/** How many times as long as without order, without the time until the retries, as the median of the rounds. */
const slowerMax = 1.5

type Ordering = 'none' | 'conversation'

const rules = { allowHttp: true, allowRanges: [], resolve: async () => [] }

async function newEndpoint(db: Database, ordering: Ordering, url: string) {
  const { id: workspaceId } = await createWorkspace(db, systemClock, ordering)
  const input = { workspaceId, name: ordering, url, events: ['message.received'], ordering }
  const { webhook } = await createWebhook(db, systemClock, secretKeys, rules, input)
  return { workspaceId, webhookId: webhook.id.slice(4) }
}

async function addStuck(db: Database): Promise<void> {
  const { workspaceId, webhookId } = await newEndpoint(db, 'conversation', 'http://localhost:9/')
  // The triggers would add a look for each row, which no one needs.
  await db.change('alter table deliveries disable trigger user')
  await db.change(
    `insert into deliveries (event_id, webhook_id, workspace_id, event_created_at, attempts, trigger, due_at, conversation, position)
     select gen_random_uuid(), $1, $2, now(), case when row = 0 then 5 else 0 end, case when row = 0 then 'retry' else 'first' end,
       case when row = 0 then now() + interval '1 hour' else 'infinity' end, md5(n::text)::uuid, row
     from generate_series(1, $3::int) as n, generate_series(0, $4::int) as row`,
    [webhookId, workspaceId, stuck, waitingEach],
  )
  await db.change('alter table deliveries enable trigger user')
  await db.change(
    `insert into endpoint_visits (webhook_id, workspace_id, visit_at) values ($1, $2, now() + interval '1 hour')`,
    [webhookId, workspaceId],
  )
  await db.change('analyze')
}

/** Rejects every fifth request, but no event twice, and remembers in which order the messages of each person arrived. */
async function newReceiver() {
  const arrived = new Map<string, number[]>()
  const rejectedAtMs = new Map<string, number>()
  const retryMs = new Map<string, number>()
  let requests = 0
  let accepted = 0
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { id, data } = JSON.parse(Buffer.concat(chunks).toString()) as {
      id: string
      data: { from: string; text: string }
    }
    const rejectedMs = rejectedAtMs.get(id)
    const isRejected = ++requests % 5 === 0 && rejectedMs === undefined
    if (isRejected) rejectedAtMs.set(id, performance.now())
    else {
      accepted++
      if (rejectedMs !== undefined) {
        retryMs.set(data.from, (retryMs.get(data.from) ?? 0) + performance.now() - rejectedMs)
      }
      arrived.set(data.from, [...(arrived.get(data.from) ?? []), Number(data.text)])
    }
    response.writeHead(isRejected ? 503 : 200).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    accepted: () => accepted,
    /** From rejections to retries, of the person who waited longest. */
    retryMs: () => Math.max(0, ...retryMs.values()),
    outOfOrder: () =>
      [...arrived.values()].filter((each) => each.some((number, index) => number < (each[index - 1] ?? 0))).length,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

let numbers = 0

/** How long all messages take to arrive, in milliseconds, and how many people's were out of order. */
async function deliverAll(db: Database, serviceUrl: string, ordering: Ordering) {
  const receiver = await newReceiver()
  const { workspaceId } = await newEndpoint(db, ordering, receiver.url)
  const target = { url: serviceUrl, db, clock: systemClock, secretKeys }
  const app = await newApp(target)
  const { phoneNumberId } = await newSender(target, workspaceId, app.id, String(99_100_000_000 + ++numbers))
  const names = Array.from({ length: people }, (_, index) => `1650555${1000 + index}`)
  const startedMs = performance.now()
  for (let first = 0; first < messagesEach; first += 10) {
    const messages = Array.from({ length: 10 }, (_, index) => first + index).flatMap((number) =>
      names.map((from) => ({ ...text(`wamid.${workspaceId}.${from}.${number}`, String(number)), from })),
    )
    const status = await app.post(webhookOf(phoneNumberId, messages))
    if (status !== 200) throw new Error(`the webhook got ${status}`)
  }
  while (receiver.accepted() < people * messagesEach && performance.now() < startedMs + 60_000) await sleep(2)
  const tookMs = performance.now() - startedMs
  receiver.close()
  const { accepted, retryMs, outOfOrder } = receiver
  return { tookMs, retryMs: retryMs(), lost: people * messagesEach - accepted(), outOfOrder: outOfOrder() }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN

async function run(say: (line: string) => void): Promise<{ figure: string; ok: boolean }> {
  const dataDir = newFolder('parley-conversations-')
  const embedded = await openEmbedded({ dataDir, purpose: 'visitor' })
  try {
    await migrate(embedded.connection)
    const db = openDatabase(embedded.connection, () => {}, 1)
    await ensurePartitions(db, systemClock)
    await addStuck(db)
    say(`${stuck} conversations wait, ${waitingEach} events in each`)
    const service = await spawnService(embedded.connection, localReceivers)
    await deliverAll(db, service.url, 'none')
    const took = { none: [] as number[], conversation: [] as number[] }
    const retries: number[] = []
    let [lost, outOfOrder] = [0, 0]
    for (let round = 0; round < rounds; round++) {
      for (const ordering of ['none', 'conversation'] as const) {
        const outcome = await deliverAll(db, service.url, ordering)
        took[ordering].push(outcome.tookMs)
        lost += outcome.lost
        if (ordering === 'none') continue
        retries.push(outcome.retryMs)
        outOfOrder += outcome.outOfOrder
      }
    }
    await service.stop()
    await db.close()
    const [without, withOrder, waited] = [took.none, took.conversation, retries].map(median) as [number, number, number]
    const times = (withOrder - waited) / without
    const figure = `${people * messagesEach} messages: ${without.toFixed(0)} ms without order, ${withOrder.toFixed(0)} ms with order, of which up to ${waited.toFixed(0)} ms until retries (${times.toFixed(2)} times without those); ${lost} lost, ${outOfOrder} people out of order`
    return { figure, ok: lost === 0 && outOfOrder === 0 && times <= slowerMax }
  } finally {
    await embedded.close()
    removeFolder(dataDir)
  }
}

export const scenario = {
  name: 'stuck-conversations',
  wanted: `with ${stuck.toLocaleString('en')} stuck conversations, messages of other conversations arrive in order; without the waits for retries, they take at most ${slowerMax} times as long as without order`,
  run,
}
