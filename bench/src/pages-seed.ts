import type { Config } from '@parley/server/config'
import type { Db } from '@parley/server/db/db'
import type { Store } from '@parley/server/db/store'
import { createApp } from '@parley/server/domain/connections/apps'
import { createKey } from '@parley/server/domain/keys/keys'
import { newSetupLink } from '@parley/server/domain/people/links/links'
import { createWebhook } from '@parley/server/domain/webhooks/webhooks'
import { createWorkspace } from '@parley/server/domain/workspaces/workspaces'
import { systemClock } from '@parley/server/lib/clock'
import { newUuid } from '@parley/server/lib/ids'
import { seedEvents, seedLedger } from './pages-events.ts'
import { seedReceived, seedRequests, seedSent } from './pages-messages.ts'
import { dayMs, days, requests, type SeedTarget, type WorkspaceObjects } from './pages-scale.ts'

export interface Seeded {
  workspaceId: string
  /** Of the link that creates the first account. */
  setupToken: string
}

/**
 * A busy workspace after a month: ten million logged requests, 600,000 messages sent and 400,000 received, their events and
 * deliveries to three endpoints, form submissions, orders, credit entries and an audit log.
 */
export async function seed(store: Store, config: Config, print: (line: string) => void): Promise<Seeded> {
  const { db } = store
  const { id: workspaceId } = await createWorkspace(db, systemClock, 'Busy')
  const objects = await seedObjects(db, config, workspaceId)
  const startMs = Math.floor(Date.now() / 60_000) * 60_000 - (days - 1) * dayMs
  // Creates partitions from the day of the first row on; those of today and later exist or are created by the service.
  const first = new Date(startMs - dayMs).toISOString().slice(0, 10)
  for (const table of partitioned) await db.rows('select ensure_days($1, $2::date, $3)', [table, first, days + 2])
  const stepMs = ((days - 1) * dayMs) / requests
  const place: SeedTarget = { workspaceId, startMs, stepMs, ...objects }
  const timed = async (what: string, work: (db: Db, place: SeedTarget) => Promise<void>) => {
    const began = performance.now()
    await work(db, place)
    print(`  ${what}: ${((performance.now() - began) / 1000).toFixed(0)} s`)
  }
  await Promise.all([
    timed('requests', seedRequests),
    timed('messages received, forms and orders', seedReceived)
      .then(() => timed('messages sent', seedSent))
      .then(() => timed('events and attempts', seedEvents))
      .then(() => timed('credits and audit log', seedLedger)),
  ])
  const began = performance.now()
  // In a month, autovacuum would have done this.
  for (const table of seededTables) await db.script(`vacuum (analyze) ${table}`)
  print(`  vacuum and analyze: ${((performance.now() - began) / 1000).toFixed(0)} s`)
  return { workspaceId, setupToken: await newSetupLink(db, systemClock, workspaceId, 'bench') }
}

const hours = ['traffic_hours', 'refusal_hours', 'delivery_hours']
const partitioned = ['request_log', 'events', 'delivery_attempts', ...hours]
const seededTables = [
  ...partitioned,
  ...['messages', 'message_statuses', 'inbound_messages', 'flow_responses', 'orders', 'deliveries', 'templates'],
  ...['credit_entries', 'credit_days', 'audit_entries', 'senders', 'api_keys', 'key_usage', 'webhooks'],
]

/** The objects of which a workspace has only a few. */
async function seedObjects(db: Db, config: Config, workspaceId: string): Promise<WorkspaceObjects> {
  const now = systemClock.now()
  const app = await createApp(db, systemClock, config.secretKeys(), {
    name: 'bench',
    appSecret: 'bench',
    verifyToken: 'bench',
    graphUrl: 'http://127.0.0.1:9',
  })
  const connectionId = newUuid()
  await db.change(
    `insert into connections (id, workspace_id, app_id, waba_id, access_token_sealed, created_at, sync_due_at)
     values ($1, $2, $3, '1', 'none', $4, $4::timestamptz + interval '1 year')`,
    [connectionId, workspaceId, app.id, now],
  )
  const ids = (count: number) => Array.from({ length: count }, () => newUuid())
  const [senders, templates, keys] = [ids(10), ids(200), [] as string[]]
  await db.change(
    `insert into senders (id, workspace_id, connection_id, app_id, phone_number_id, phone_number, display_name, status,
       quality_rating, created_at, updated_at)
     select id, $2, $3, $4, 1000 + n, 15550780000 + n, 'Sender ' || n, 'CONNECTED', 'GREEN', $5, $5
     from unnest($1::uuid[]) with ordinality as s(id, n)`,
    [senders, workspaceId, connectionId, app.id, now],
  )
  await db.change(
    `insert into templates (id, workspace_id, connection_id, network_template_id, name, language, category, status,
       components, content_digest, variables, created_at, updated_at)
     select id, $2, $3, n, 'template_' || n, case when n % 2 = 0 then 'en_US' else 'es' end,
       case when n % 3 = 0 then 'MARKETING' else 'UTILITY' end, case when n % 20 = 0 then 'REJECTED' else 'APPROVED' end,
       '[{"type":"BODY","text":"Hello {{1}}, your order {{2}} is on its way."}]', n, '[]', $4, $4
     from unnest($1::uuid[]) with ordinality as t(id, n)`,
    [templates, workspaceId, connectionId, now],
  )
  for (let index = 0; index < 50; index++) {
    const scopes = ['messages:send', 'messages:read']
    const { key } = await createKey(db, systemClock, { workspaceId, name: `Key ${index}`, scopes, createdBy: 'bench' })
    keys.push(key.id)
  }
  await db.change(
    `insert into key_usage (key_id, workspace_id, last_used_at, last_used_address)
     select id, $2, $3, '203.0.113.1' from unnest($1::uuid[]) as id`,
    [keys, workspaceId, now],
  )
  const webhooks: string[] = []
  const statuses = ['message.sent', 'message.delivered', 'message.failed']
  for (const [name, events] of [
    ['Inbox', ['message.received']],
    ['Statuses', statuses],
    ['Forms', ['flow.completed', 'message.failed']],
  ] as const) {
    const input = { workspaceId, name, url: 'http://127.0.0.1:9/', events: [...events] }
    const { webhook } = await createWebhook(db, systemClock, config.secretKeys(), config.targetRules, input)
    webhooks.push(webhook.id.replace('whk_', ''))
  }
  await db.change(
    `update webhooks set last_success_at = $2, enabled = name <> 'Forms',
       disabled_reason = case when name = 'Forms' then 'Disabled manually' end,
       disabled_at = case when name = 'Forms' then $2::timestamptz end where workspace_id = $1`,
    [workspaceId, now],
  )
  return { keys, senders, templates, webhooks }
}
