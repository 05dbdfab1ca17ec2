import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKey } from '@parley/server/domain/keys/keys'
import { systemClock } from '@parley/server/lib/clock'
import { openPostgres } from '../lib/postgres.ts'
import { persistently } from '../lib/proofs.ts'
import type { Outcome, Scenario } from '../lib/scenario.ts'
import { type LoadedShop, openShop, secondsUntil } from '../lib/shop.ts'

const writers = 8
const eventsPerPhase = 300

/**
 * Eight writers at full speed, a webhook and two readers of `GET /v1/events`, one of which waits. The service is killed twice,
 * and PostgreSQL crashes once.
 */
export const scenario: Scenario = {
  name: 'events-read',
  wanted: 'two readers of /v1/events get every event that was stored or delivered, exactly once and in the same order',
  limitSeconds: 300,
  async run(say): Promise<Outcome> {
    const postgres = await openPostgres()
    const shop = await openShop(postgres.connection)
    try {
      return await readUnderLoad(shop, () => postgres.crash(), say)
    } finally {
      await shop.close()
      await postgres.close()
    }
  },
}

async function readUnderLoad(
  shop: LoadedShop,
  crashPostgres: () => Promise<void>,
  say: (line: string) => void,
): Promise<Outcome> {
  let service = await shop.start()
  let isWriting = true
  const url = () => service.url
  const writing = Array.from({ length: writers }, async (_, index) => {
    while (isWriting) {
      // Two of them send, so that events of sends and statuses are among the others.
      const isDone = index < 2 ? await shop.send(url()) : await shop.receive(url())
      if (!isDone) await sleep(20)
    }
  })
  const readers = [
    await startReader(shop, url, { limit: 1_000, wait: 5 }),
    await startReader(shop, url, { limit: 37, wait: 0 }),
  ]
  /** Until both have read some more, so that faults happen while they read. */
  const readMore = async () => {
    const counts = readers.map(({ ids }) => ids.length)
    await secondsUntil(async () =>
      readers.every(({ ids }, index) => ids.length >= (counts[index] ?? 0) + eventsPerPhase),
    )
  }
  for (let kills = 0; kills < 2; kills++) {
    await readMore()
    service.child.kill('SIGKILL')
    await once(service.child, 'exit')
    service = await shop.start()
    say(`killed; the readers have ${readers.map(({ ids }) => ids.length).join(' and ')} events`)
  }
  await readMore()
  await crashPostgres()
  say('PostgreSQL crashed')
  await readMore()
  isWriting = false
  await Promise.all(writing)
  const { problems } = await shop.prove(say)
  const stored = await persistently(() => shop.db.rows<{ id: string }>('select id from events'))
  const hasAll = () => readers.every(({ ids }) => new Set(ids).size >= stored.length)
  await secondsUntil(async () => hasAll(), 30_000)
  // A reader that repeats an event may do so only now.
  await sleep(1_000)
  for (const reader of readers) await reader.stop()
  await service.stop()
  const isOneOrder = new Set(readers.map(({ ids }) => ids.join())).size === 1
  const figures = readers.map(({ ids }) => {
    const read = new Set(ids)
    const missing = stored.filter(({ id }) => !read.has(id))
    const undelivered = stored.filter(({ id }) => shop.receiver.taken('shop', id) === 0)
    return { missing: missing.length, repeats: ids.length - read.size, undelivered: undelivered.length }
  })
  for (const problem of problems.slice(0, 5)) say(problem)
  return {
    figure: `${stored.length} events; ${figures.map(({ missing, repeats }) => `${missing} missing, ${repeats} repeated`).join('; ')}; ${isOneOrder ? 'one order' : 'different orders'}`,
    ok:
      isOneOrder &&
      stored.length >= 4 * eventsPerPhase &&
      problems.length === 0 &&
      figures.every(({ missing, repeats, undelivered }) => missing + repeats + undelivered === 0),
  }
}

/** Reads from the first event on, with the cursor of the last response that arrived, until it is stopped. */
async function startReader(shop: LoadedShop, url: () => string, { limit, wait }: { limit: number; wait: number }) {
  const ids: string[] = []
  const keys: string[] = []
  // Each may make 100 requests a minute.
  for (let n = 0; n < 25; n++) {
    const input = {
      workspaceId: shop.workspaceId,
      name: `reader ${n}`,
      scopes: ['events:read' as const],
      rateLimitPerMin: 100,
    }
    keys.push((await createKey(shop.db, systemClock, { ...input, createdBy: 'load' })).secret)
  }
  let isReading = true
  let requests = 0
  const reading = (async () => {
    let after = ''
    while (isReading) {
      const headers = { authorization: `Bearer ${keys[requests++ % keys.length]}` }
      const query = `limit=${limit}&wait=${wait}${after && `&after=${after}`}`
      try {
        const response = await fetch(`${url()}/v1/events?${query}`, { headers, signal: AbortSignal.timeout(30_000) })
        const page = (await response.json()) as { data: { id: string }[]; next_cursor: string }
        if (response.status !== 200) throw new Error(`status ${response.status}`)
        ids.push(...page.data.map(({ id }) => id))
        after = page.next_cursor
        if (page.data.length === 0 && wait === 0) await sleep(50)
      } catch {
        // The service or the database is away. The cursor stays where it is.
        await sleep(100)
      }
    }
  })()
  return {
    ids,
    async stop() {
      isReading = false
      await reading
    },
  }
}
