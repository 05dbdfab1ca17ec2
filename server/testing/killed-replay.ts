import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../testing/src/free-port.ts'
import type { Connection, Database } from '../src/db/db.ts'
import { ensurePartitions } from '../src/db/partitions.ts'
import { getReplay, startReplay } from '../src/domain/deliveries/replays/replays.ts'
import { systemClock } from '../src/lib/clock.ts'
import { spawnService } from './service.ts'
import { localReceivers, newTenant, steadyTraffic } from './tenants.ts'

export interface KilledReplay {
  replay: { total: number; delivered: number; failed: number; state: string }
  /** Past events that did not arrive, and arrivals that are none of them or lack the ID of the replay. */
  missing: number
  wrong: number
  repeats: number
  /** Deliveries of the replay with a lease after each kill, in total. No more than these can have been in flight. */
  inFlight: number
  /** The most first arrivals in any second. */
  mostPerSecond: number
  /** How long new events of the same endpoint take, in milliseconds: without the replay, and while it runs. */
  p99: { alone: number; during: number }
}

/** Inserts events of the last week, evenly, with no deliveries. Returns their IDs. */
async function insertPastEvents(db: Database, workspaceId: string, count: number): Promise<Set<string>> {
  await ensurePartitions(db, systemClock)
  await db.rows(`select ensure_days('events', (now() - interval '8 days')::date, 9)`)
  const rows = await db.rows<{ id: string }>(
    `with row as (
       select n, date_trunc('milliseconds', now() - interval '7 days' + (n / $2::float8) * interval '6 days 23 hours') as at
       from generate_series(1, $2::int) as n
     ), event as (
       select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid as id, at
       from row
     )
     insert into events (id, workspace_id, type, body, created_at)
     select id, $1, 'message.received',
       convert_to(json_build_object('id', id, 'type', 'message.received', 'created_at', at, 'data', json_build_object())::text, 'UTF8'), at
     from event
     returning id`,
    [workspaceId, count],
  )
  return new Set(rows.map(({ id }) => id))
}

/**
 * Replays events of the last week to an endpoint that was made just now, and kills the service with SIGKILL on the way. New
 * events arrive at the same endpoint.
 */
export async function replayThroughKills(options: {
  db: Database
  connection: Connection
  events: number
  rate: number
  kills: number
  /** How long to measure new events alone. */
  aloneMs: number
  say?: (line: string) => void
}): Promise<KilledReplay> {
  const { db, connection, events, rate, kills, aloneMs, say = () => {} } = options
  const receiver = await openReceiver()
  const { workspaceId, webhookId } = await newTenant(db, 'replayed', receiver.url)
  const past = await insertPastEvents(db, workspaceId, events)
  say(`${past.size} events of the last week`)
  // The same port after each kill, as a service behind one address.
  const port = String(await freePort())
  const start = () => spawnService(connection, { ...localReceivers, PORT: port })
  let service = await start()
  const traffic = await steadyTraffic(db, service.url, workspaceId, receiver)
  await sleep(1_000)
  const aloneFrom = performance.now()
  await sleep(aloneMs)
  const alone = traffic.latency(aloneFrom, performance.now() - 500).p99
  const { replay } = await startReplay(db, systemClock, webhookId, {
    since: new Date(Date.now() - 8 * 86_400_000),
    // Later events are the new ones.
    until: new Date(Date.now() - 30 * 60_000),
    only: 'missing',
    rate,
  })
  const inFlight = new Set<string>()
  const during: number[] = []
  let calmFrom = performance.now() + 1_000
  const measure = () => {
    const to = performance.now() - 500
    if (to > calmFrom + 1_000) during.push(traffic.latency(calmFrom, to).p99)
  }
  let killed = 0
  for (const endMs = performance.now() + 3 * (events / rate) * 1_000 + kills * 100_000; ; await sleep(50)) {
    if (performance.now() > endMs) break
    const { arrivals } = receiver
    if (killed < kills && arrivals.size >= ((killed + 1) / (kills + 1)) * events) {
      measure()
      service.child.kill('SIGKILL')
      await once(service.child, 'exit')
      killed++
      const leased = await db.rows<{ held: string }>(
        `select event_id || ' ' || lease as held from deliveries where replay_id = $1 and lease is not null`,
        [replay.id.slice(4)],
      )
      for (const { held } of leased) inFlight.add(held)
      say(`killed ${killed} times, ${arrivals.size} arrived, ${leased.length} in flight`)
      service = await start()
      // Messages of the time without a service are not what is measured.
      calmFrom = performance.now() + 3_000
    }
    if ((await getReplay(db, replay.id)).ended_at) break
  }
  measure()
  traffic.stop()
  await sleep(1_500)
  const counts = [...receiver.arrivals.values()]
  const outcome: KilledReplay = {
    replay: await getReplay(db, replay.id),
    missing: [...past].filter((id) => !receiver.arrivals.has(id)).length,
    wrong: [...receiver.arrivals].filter(
      ([id, { replayIds }]) => !past.has(id) || replayIds.some((each) => each !== replay.id),
    ).length,
    repeats: counts.reduce((sum, { replayIds }) => sum + replayIds.length - 1, 0),
    inFlight: inFlight.size,
    mostPerSecond: mostWithin(
      counts.map(({ firstMs }) => firstMs),
      1_000,
    ),
    p99: { alone, during: Math.max(0, ...during) },
  }
  await service.stop()
  receiver.close()
  return outcome
}

/** The most of these times within any `ms`. */
function mostWithin(times: readonly number[], ms: number): number {
  const sorted = [...times].sort((one, other) => one - other)
  let most = 0
  for (let to = 0, from = 0; to < sorted.length; to++) {
    while ((sorted[to] as number) - (sorted[from] as number) >= ms) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}

/** Keeps apart what arrives from a replay and what is new. */
async function openReceiver() {
  const arrivals = new Map<string, { firstMs: number; replayIds: string[] }>()
  const messagesMs = new Map<string, number>()
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const atMs = performance.now()
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      response.end()
      const replayId = request.headers['service-replay']
      if (replayId) {
        const id = String(request.headers['service-delivery'])
        const before = arrivals.get(id)
        if (before) before.replayIds.push(String(replayId))
        else arrivals.set(id, { firstMs: atMs, replayIds: [String(replayId)] })
        return
      }
      const { data } = JSON.parse(Buffer.concat(chunks).toString()) as { data?: { wa_message_id?: string } }
      if (data?.wa_message_id && !messagesMs.has(data.wa_message_id)) messagesMs.set(data.wa_message_id, atMs)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    arrivals,
    messagesMs,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
