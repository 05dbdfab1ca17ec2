import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '@parley/server/db/db'
import type { Simulator } from '@parley/simulator/start'
import type { CountingReceiver } from './counting-receiver.ts'

/** A webhook of a workspace, and the path at the receiver that it leads to. */
export interface Endpoint {
  id: string
  workspaceId: string
  path: string
  events: ReadonlySet<string>
}

/** Runs a query until PostgreSQL is there to run it. */
export async function persistently<T>(work: () => Promise<T>, timeoutMs = 60_000): Promise<T> {
  for (const end = Date.now() + timeoutMs; ; await sleep(200)) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > end) throw error
    }
  }
}

/** Waits until no delivery is open, except those of the endpoints with these names, and no message waits to be sent. */
export async function waitUntilDrained(
  db: Database,
  timeoutMs: number,
  say: (line: string) => void,
  except: readonly string[] = [],
): Promise<boolean> {
  let line = ''
  let spokenAt = Date.now()
  for (const end = Date.now() + timeoutMs; Date.now() < end; await sleep(500)) {
    const left = await persistently(() =>
      db.first<{ deliveries: number; outbox: number }>(
        `select (select count(*)::int from deliveries d join webhooks w on w.id = d.webhook_id
             where w.name <> all($1::text[])) as deliveries,
           (select count(*)::int from outbox where state <> 'unknown') as outbox`,
        [except],
      ),
    )
    if (left?.deliveries === 0 && left.outbox === 0) return true
    line = `${left?.deliveries} deliveries and ${left?.outbox} messages are left`
    if (Date.now() - spokenAt < 10_000) continue
    say(line)
    spokenAt = Date.now()
  }
  say(line)
  for (const row of await openRows(db)) say(JSON.stringify(row))
  return false
}

/** Some of the deliveries and messages that are left, with all that says why. */
const openRows = async (db: Database): Promise<unknown[]> => [
  ...(await db.rows('select * from deliveries limit 3')),
  ...(await db.rows(`select * from outbox where state <> 'unknown' limit 3`)),
]

/** Acknowledged messages of the network that are not stored, and events that did not arrive at an endpoint that subscribed to them. */
export async function findLost(
  db: Database,
  receiver: CountingReceiver,
  endpoints: readonly Endpoint[],
  acknowledged: ReadonlySet<string>,
): Promise<{ lost: string[]; events: number; expected: number }> {
  const stored = await db.rows<{ id: string }>('select wa_message_id as id from inbound_messages')
  const ids = new Set(stored.map(({ id }) => id))
  const lost = [...acknowledged]
    .filter((id) => !ids.has(id))
    .map((id) => `message ${id} was acknowledged, and is not stored`)
  const events = await db.rows<{ id: string; workspace_id: string; type: string; not_to: string | null }>(
    `select id, workspace_id, type, case when type = 'webhook.disabled'
       then convert_from(body, 'UTF8')::json -> 'data' ->> 'webhook_id' end as not_to from events`,
  )
  const received = events.filter(({ type }) => type === 'message.received').length
  if (received !== stored.length) lost.push(`${stored.length} messages are stored, with ${received} events`)
  const byWorkspace = Map.groupBy(endpoints, ({ workspaceId }) => workspaceId)
  let expected = 0
  for (const { id, workspace_id: workspaceId, type, not_to: notTo } of events) {
    for (const { id: endpoint, path, events: types } of byWorkspace.get(workspaceId) ?? []) {
      if (!types.has(type) || endpoint === notTo) continue
      expected++
      if (receiver.taken(path, id) === 0) lost.push(`event ${id} (${type}) did not arrive at ${path}`)
    }
  }
  return { lost, events: events.length, expected }
}

/** Balances that are not grants - debits + refunds, and messages without exactly one debit. */
export async function findLedgerProblems(db: Database, accepted: ReadonlySet<string>): Promise<string[]> {
  const wrong = await db.rows<{ workspace_id: string }>(
    `select workspace_id from credit_balances b where balance <> (
       select coalesce(sum(amount), 0) from credit_entries e where e.workspace_id = b.workspace_id)`,
  )
  const debits = await db.rows<{ id: string; debits: number; refunds: number; status: string }>(
    `select m.id, m.status, count(*) filter (where e.kind = 'debit')::int as debits,
       count(*) filter (where e.kind = 'refund')::int as refunds
     from messages m left join credit_entries e on e.message_id = m.id group by m.id`,
  )
  const orphans = await db.rows<{ id: string }>(
    `select e.message_id as id from credit_entries e where message_id is not null
       and not exists (select 1 from messages m where m.id = e.message_id)`,
  )
  const ids = new Set(debits.map(({ id }) => `msg_${id}`))
  return [
    ...wrong.map((row) => `the balance of workspace ${row.workspace_id} is not the sum of its entries`),
    ...debits
      .filter((row) => row.debits !== 1 || row.refunds !== (row.status === 'failed' ? 1 : 0))
      .map((row) => `message ${row.id} (${row.status}) has ${row.debits} debits and ${row.refunds} refunds`),
    ...orphans.map(({ id }) => `message ${id} has a credit entry and does not exist`),
    ...[...accepted].filter((id) => !ids.has(id)).map((id) => `message ${id} was accepted with 202, and is not stored`),
  ]
}

/** Messages that the network accepted more than once from us. It has our message ID with each. */
export function findSentTwice(control: Simulator['control']): { twice: string[]; sent: Set<string> } {
  const counts = new Map<string, number>()
  for (const phone of control.phones.list()) {
    for (const message of control.phones.messages(phone.waId)) {
      const { direction, journey } = message as { direction?: string; journey?: { opaque?: string | null } | null }
      if (direction !== 'out') continue
      const id = journey?.opaque ?? 'without our ID'
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  }
  const twice = [...counts]
    .filter(([, count]) => count > 1)
    .map(([id, count]) => `message ${id} was sent ${count} times`)
  return { twice, sent: new Set(counts.keys()) }
}
